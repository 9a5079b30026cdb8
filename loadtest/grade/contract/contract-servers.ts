// The Redis servers of the contract: its own, whatever REDIS_URL names, since links lead there and keys are looked at.

import { dismissReaper, makeTempDir } from '../../../scripts/stack/parts.ts';
import { loadScripts, openRedis, type RedisServer } from '../../../scripts/stack/redis.ts';

export type ContractServers = ReturnType<typeof openContractServers>;

/** Starts nothing before it is asked for a server. */
export function openContractServers() {
  const servers: RedisServer[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;

  return {
    /** Resolves with the addresses of so many servers, each of which knows all scripts of ours. */
    async atLeast(count: number): Promise<string[]> {
      temp ??= makeTempDir();
      while (servers.length < count) {
        const server = await openRedis(undefined, { dir: temp.dir });
        servers.push(server);
        await loadScripts(server.url);
      }
      return servers.slice(0, count).map(({ url }) => url);
    },
    async close() {
      for (const { part } of servers) await part?.stop();
      temp?.remove();
      if (temp) await dismissReaper();
    },
  };
}
