// The servers of a lock, as an observer beside the lock sees and changes them.

import type { ReadCommand } from '../../simulation/proxy.ts';
import { OUTSIDE, type VirtualServer } from '../../simulation/server.ts';
import type { Reply } from '../../simulation/valkey.ts';

/** With 1 a server replies to each write with an error. */
const REFUSES_WRITES = ['CONFIG', 'SET', 'min-replicas-to-write'] as const;

export type Keys = Record<string, string>;
export type Servers = ReturnType<typeof createServers>;

const ask = (server: VirtualServer, ...command: (string | number)[]) => server.execute(OUTSIDE, command);
const namesIn = (server: VirtualServer) => (ask(server, 'KEYS', '*') as string[]).toSorted();
const leaseIn = (server: VirtualServer, name: string) => Number(ask(server, 'PTTL', name));

/** The servers of a lock that uses this key. Each step is reported with `say`. */
export function createServers(servers: VirtualServer[], key: string, say: (sentence: string) => void) {
  return {
    /** Deletes a key in every server, as if the lease were over. Returns false when there is none. */
    endLease(ofKey = key): boolean {
      const isDeleted = servers.map((server) => {
        if (ask(server, 'DEL', ofKey) !== 0) return true;
        // For a lock that keeps its lease in another key.
        const leased = namesIn(server).filter((name) => leaseIn(server, name) >= 0);
        return leased.length > 0 && ask(server, 'DEL', ...leased) !== 0;
      });
      if (isDeleted.includes(true)) say('the test deletes the key, as if the lease had ended');
      return isDeleted.includes(true);
    },
    /** Deletes every key that has an end. */
    endAllLeases() {
      for (const server of servers)
        for (const name of ask(server, 'KEYS', '*') as string[])
          if (leaseIn(server, name) >= 0) ask(server, 'DEL', name);
      say('a day passes: every key with a TTL is gone');
    },
    /** Its key has no TTL. Its lease may have an end all the same: a value says when. */
    isEndless: () => servers.some((server) => leaseIn(server, key) === -1),
    /** What all keys hold, by their names. */
    contents(): Keys {
      const all = servers.flatMap((server, at) =>
        namesIn(server).map((name) => [`${at} ${name}`, String(ask(server, 'DUMP', name))]),
      );
      return Object.fromEntries(all);
    },
    /** What all keys take in the memory of the servers, in bytes. */
    keyBytes: () =>
      servers
        .flatMap((server) => namesIn(server).map((name) => Number(ask(server, 'MEMORY', 'USAGE', name, 'SAMPLES', 0))))
        .reduce((sum, bytes) => sum + bytes, 0),
    /** The keys that a command reads or writes, as Redis sees them. */
    keysOf({ name, args }: ReadCommand): string[] {
      const found: Reply = ask(servers[0] as VirtualServer, 'COMMAND', 'GETKEYS', name, ...args);
      return Array.isArray(found) ? found.map(String) : [];
    },
    /** How many subscriptions there are. */
    subscriptions: () => servers.flatMap((server) => ask(server, 'PUBSUB', 'CHANNELS')).length,
    /** They forget their scripts, or everything. */
    flush(what: 'SCRIPT' | 'ALL') {
      for (const server of servers) {
        if (what === 'ALL') ask(server, 'FLUSHALL');
        ask(server, 'SCRIPT', 'FLUSH');
      }
      say(what === 'ALL' ? 'Redis has restarted empty' : 'Redis has lost its scripts');
    },
    /** They answer each write with an error, or carry it out again. */
    refuseWrites(isRefused: boolean) {
      for (const server of servers) ask(server, ...REFUSES_WRITES, isRefused ? 1 : 0);
    },
    /** What they were asked to run as scripts. */
    scriptsRun: () =>
      servers.flatMap(({ heard }) =>
        heard.flatMap(({ command: [name, first, text] }) => {
          if (/^EVAL(_RO)?$/.test(String(name))) return [String(first)];
          return name === 'SCRIPT' && /^load$/i.test(String(first)) ? [String(text)] : [];
        }),
      ),
    load(scripts: string[]) {
      for (const server of servers)
        server.executeAll(
          OUTSIDE,
          scripts.map((text) => ['SCRIPT', 'LOAD', text]),
        );
    },
    /** What they have heard so far is forgotten, but by themselves. */
    forgetHeard() {
      for (const { heard } of servers) heard.length = 0;
    },
  };
}
