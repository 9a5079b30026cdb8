// The default ports.

import type { Address } from './ports.ts';

/** The ports of npm run up, which are the ports of the course, by the settings that change them. */
export const upPorts = {
  REDIS_PORT: 6390,
  MYSQL_PORT: 3390,
  NGINX_PORT: 8080,
  NODE_1_PORT: 7777,
  NODE_1_LAB_PORT: 7778,
  NODE_2_PORT: 8888,
  NODE_2_LAB_PORT: 8889,
};

/** The most nodes that a stack may have. */
export const MOST_NODES = 16;

/** The ports of npm run up with more nodes than the course's two: node-3 listens on 9003 and 9103. */
export function upPortsFor(nodes: number): Record<string, number> {
  const more = Array.from({ length: nodes - 2 }, (_, index) => index + 3);
  const ofNodes = more.flatMap((n) => [
    [`NODE_${n}_PORT`, 9_000 + n],
    [`NODE_${n}_LAB_PORT`, 9_100 + n],
  ]);
  return { ...upPorts, ...Object.fromEntries(ofNodes) };
}

/** The address of the server of this setting when HOST is `host`: nginx and the nodes listen on HOST. */
export function addressOf(setting: string, port: number, host: string): Address {
  if (/^(NGINX|NODE_\d+)_PORT$/.test(setting)) return { host, port };
  return setting === 'LIVE_SHARE_PORT' ? { host: '0.0.0.0', port } : { port };
}

/** The ports of npm run live: the presenter's page, and the page of the room. */
export const livePorts = { LIVE_PORT: 7790, LIVE_SHARE_PORT: 7791 };
