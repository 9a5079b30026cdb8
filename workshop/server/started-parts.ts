// The parts that a row starts, as far as known in advance.

import type { Row } from '../../loadtest/staircase/staircase.ts';
import { whyNoMysql } from '../../stack/mysql.ts';
import { findOnPath } from '../../stack/path.ts';
import { whyNoZookeeper } from '../../stack/zookeeper.ts';
import type { StartedPart } from '../page/protocol.ts';

/** In the order in which they are listed. Parts named by a setting are already running, and parts that are not installed are not started. */
export function startedParts({ backends, stack }: Pick<Row, 'backends' | 'stack'>): StartedPart[] {
  const { REDIS_URL, REDLOCK_URLS, MYSQL_URL, ZOOKEEPER_URL } = process.env;
  const isStarted: Record<StartedPart, boolean> = {
    redis: !REDIS_URL,
    replica: !REDIS_URL && stack?.options?.hasReplica === true,
    masters: backends.includes('masters') && !REDLOCK_URLS,
    mariadb: isMysqlStarted() && findOnPath('mariadbd') !== undefined,
    mysql: isMysqlStarted() && findOnPath('mariadbd') === undefined,
    zookeeper: backends.includes('zookeeper') && !ZOOKEEPER_URL && whyNoZookeeper() === undefined,
    nginx: true,
    nodes: true,
  };

  function isMysqlStarted() {
    return backends.includes('mysql') && !MYSQL_URL && whyNoMysql() === undefined;
  }

  return (Object.keys(isStarted) as StartedPart[]).filter((part) => isStarted[part]);
}
