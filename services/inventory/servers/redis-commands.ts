import type { RedisClient } from '../../../locks/lock.ts';
import type { Commands } from '../../../locks/strategy.ts';
import { mastersOf } from './redis-client.ts';
import { nameIn } from './redis-info.ts';

/** Sentences that say why a Redis can't carry a lock, and what to do, by the name of the lock. */
export type Lacks = Record<string, string>;

/**
 * The one place that knows which locks a Redis can't carry because it lacks their commands. Each server that
 * takes writes is asked for the commands: a version says nothing of a fork. Rejects when one does not answer.
 */
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
