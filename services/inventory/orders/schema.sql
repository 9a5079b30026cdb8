-- The tables of the orders. Two nodes may run this at the same moment, and again at every start.
-- Every time is in UTC, by MySQL's clock: the nodes' clocks don't have to agree. Every amount is in cents.

-- A row per order. `restored_at` is set when a closed order's units have been returned to stock.
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

-- A row per sale that may have taken units and has no order yet. Its id is the id of the future order. Until `alive_until` the
-- sale may still return its units; NULL comes from a node that did not set it.
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

-- Adds the column to older tables. MySQL has no ADD COLUMN IF NOT EXISTS.
SET @add_alive_until = IF(
  EXISTS (SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'tb_intent' AND column_name = 'alive_until'),
  'DO 0', 'ALTER TABLE tb_intent ADD COLUMN alive_until DATETIME(3) NULL');
PREPARE add_alive_until FROM @add_alive_until;
EXECUTE add_alive_until;
DEALLOCATE PREPARE add_alive_until;

-- A row per order that the cleanup job could not process, for a reason that is not temporary. After five tries it is skipped
-- (dead-lettered). Delete the row once the problem is fixed.
CREATE TABLE IF NOT EXISTS tb_dead_letter (
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  tries INT NOT NULL,
  reason VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  changed_at DATETIME(3) NOT NULL
) ENGINE = InnoDB;

-- A row per movement of money. On purpose, no key enforces that an order is paid or refunded only once: that is up to the UPDATE
-- of the status, or the stored response, in the same transaction; if it is missing, a second row shows it.
CREATE TABLE IF NOT EXISTS tb_payment (
  id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind ENUM('PAYMENT', 'REFUND') NOT NULL,
  amount BIGINT NOT NULL,
  created_at DATETIME(3) NOT NULL,
  KEY by_order (order_id)
) ENGINE = InnoDB;

-- A row per refunded order, under the settings of REFUND that use it. The order's id is its key: only one INSERT succeeds.
CREATE TABLE IF NOT EXISTS tb_refund (
  order_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  created_at DATETIME(3) NOT NULL
) ENGINE = InnoDB;

-- A row per Idempotency-Key: the request that inserts it does the work. `claim` identifies the request that may store the response;
-- `status` and `body` are that response, NULL before. The key is binary, so that different keys never compare equal.
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

-- A row per sku and store: how many units were ever supplied, minus those removed by a new count.
CREATE TABLE IF NOT EXISTS tb_supply (
  sku VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  stock_in ENUM('redis', 'mysql') NOT NULL,
  units BIGINT NOT NULL,
  PRIMARY KEY (sku, stock_in)
) ENGINE = InnoDB;
