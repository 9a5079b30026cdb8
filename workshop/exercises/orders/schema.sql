-- The table of a part that a module brings: a row for each key that it has written down.
CREATE TABLE IF NOT EXISTS tb_key (
  name VARBINARY(255) NOT NULL PRIMARY KEY,
  answer TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
) ENGINE = InnoDB;
