-- The tables of the strategies mysql-*. Two nodes may run this at the same moment, and again at every start.

-- A row per lock: the connection that has locked the row holds the lock.
CREATE TABLE IF NOT EXISTS tb_lock (
  resource VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- A row per sku. The version counts the writes.
CREATE TABLE IF NOT EXISTS tb_stock (
  sku VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
  stock BIGINT NOT NULL,
  version BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;
