-- The tables of the orders. Two nodes may run this at the same moment, and again at every start.
-- Every time is UTC by the clock of MySQL: the clocks of two nodes need not agree. Every amount is in cents.

-- A row for each order. `restored_at` is set when the units of a closed order are back in stock.
CREATE TABLE IF NOT EXISTS tb_order (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  sku VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  quantity INT NOT NULL,
  amount BIGINT NOT NULL,
  node VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  sale_id VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status ENUM('UNPAID', 'PAID', 'REFUNDED', 'CLOSED') NOT NULL DEFAULT 'UNPAID',
  created_at DATETIME(3) NOT NULL,
  due_at DATETIME(3) NOT NULL,
  changed_at DATETIME(3) NOT NULL,
  restored_at DATETIME(3) NULL,
  KEY by_due (status, due_at, id),
  KEY by_status (status, created_at, id),
  KEY by_restored (status, restored_at, changed_at, id),
  KEY by_time (created_at, id),
  KEY by_sku (sku)
) ENGINE = InnoDB;

-- A row for each sale that may have taken units and has no order yet. Its id is that of the order to come. Until `alive_until` the
-- sale may still put its units back; NULL was written by a node that did not say so.
CREATE TABLE IF NOT EXISTS tb_intent (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  sku VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  quantity INT NOT NULL,
  node VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  created_at DATETIME(3) NOT NULL,
  alive_until DATETIME(3) NULL,
  KEY by_sku (sku),
  KEY by_time (created_at, id)
) ENGINE = InnoDB;

-- A table that is older than the column gets it. MySQL has no ADD COLUMN IF NOT EXISTS.
SET @add_alive_until = IF(
  EXISTS (SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'tb_intent' AND column_name = 'alive_until'),
  'DO 0', 'ALTER TABLE tb_intent ADD COLUMN alive_until DATETIME(3) NULL');
PREPARE add_alive_until FROM @add_alive_until;
EXECUTE add_alive_until;
DEALLOCATE PREPARE add_alive_until;

-- A row for each order that the clean-up could not do, for a reason that does not pass by itself. After five tries it is left alone.
-- Whoever has mended what is wrong deletes the row.
CREATE TABLE IF NOT EXISTS tb_dead_letter (
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  tries INT NOT NULL,
  reason VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  changed_at DATETIME(3) NOT NULL
) ENGINE = InnoDB;

-- A row for each time that money moved. No key says that an order is paid or refunded only once, on purpose: what holds
-- that is the UPDATE of the status, or the answer to the key, in the same transaction, and where it is missing the second row shows it.
CREATE TABLE IF NOT EXISTS tb_payment (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind ENUM('PAYMENT', 'REFUND') NOT NULL,
  amount BIGINT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  KEY by_order (order_id)
) ENGINE = InnoDB;

-- A row for each order that was refunded under a REFUND that looks there. The order's id is its key: one INSERT writes it.
CREATE TABLE IF NOT EXISTS tb_refund (
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  created_at DATETIME(3) NOT NULL
) ENGINE = InnoDB;

-- A row for each Idempotency-Key: the request that inserts it does the work. `claim` is who does it now, and may store the answer;
-- `status` and `body` are that answer, NULL until it is there. The key is binary, so that no two keys count as the same.
CREATE TABLE IF NOT EXISTS tb_request (
  request_key VARBINARY(255) NOT NULL PRIMARY KEY,
  fingerprint VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claim CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status SMALLINT NULL,
  body TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  created_at DATETIME(3) NOT NULL,
  claimed_until DATETIME(3) NOT NULL,
  kept_until DATETIME(3) NOT NULL,
  KEY by_kept_until (kept_until)
) ENGINE = InnoDB;

-- A row for each sku and each place that its stock is kept in: how many units were ever put there, less those taken out again
-- by a new count.
CREATE TABLE IF NOT EXISTS tb_supply (
  sku VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  stock_in ENUM('redis', 'mysql') NOT NULL,
  units BIGINT NOT NULL,
  PRIMARY KEY (sku, stock_in)
) ENGINE = InnoDB;
