import type { RedisClient } from '../../locks/lock.ts';
import type { Commands } from '../../locks/strategy.ts';
import { mastersOf } from './redis-client.ts';

/** Sentences that say why a Redis can't carry a lock, and what to do, by the name of the lock. */
export type Lacks = Record<string, string>;

/** The one place that knows which locks a Redis can not carry: it is asked for their commands, for a version says nothing of a fork. */
export async function lacksOf(redis: RedisClient, commandsOfLocks: Record<string, Commands>): Promise<Lacks> {
  const lacks: Lacks = {};
  for (const [lock, commands] of Object.entries(commandsOfLocks)) {
    const names = Object.keys(commands);
    for (const server of mastersOf(redis)) {
      const found = await server.call('COMMAND', 'INFO', ...names).catch((error: Error) => {
        if (!error.message.startsWith('NOPERM')) throw error;
      });
      // Null stands for a command that is not there.
      if (Array.isArray(found) && found.some((info) => info !== null)) continue;
      const name = nameIn(await server.info('server'));
      const remedy = Object.values(commands).join(' or ');
      lacks[lock] = found
        ? `${name} has neither ${names.join(' nor ')}, and ${lock} needs one of them: use ${remedy}, or newer.`
        : `${name} may not be asked whether it has ${names.join(' or ')}, and ${lock} needs one of them: allow COMMAND INFO.`;
    }
  }
  return lacks;
}

/** The version in an answer to INFO server. Valkey also names the version of Redis that it stands for. */
export function versionIn(info: string): string | undefined {
  return /valkey_version:(\S+)/.exec(info)?.[1] ?? /redis_version:(\S+)/.exec(info)?.[1];
}

function nameIn(info: string): string {
  return `${/valkey_version:/.test(info) ? 'Valkey' : 'Redis'} ${versionIn(info) ?? 'of an unknown version'}`;
}

/** All commands in an answer to INFO commandstats, those inside scripts included, without INFO: only the counting sends that. */
export function countCommands(commandstats: string): number {
  const lines = [...commandstats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)];
  return lines.reduce((sum, [, name, calls]) => (name === 'info' ? sum : sum + Number(calls)), 0);
}
