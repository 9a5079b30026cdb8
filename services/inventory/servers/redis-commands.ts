import type { RedisClient } from '../../../locks/lock.ts';
import type { Commands } from '../../../locks/strategy.ts';
import { mastersOf } from './redis-client.ts';
import { nameIn } from './redis-info.ts';

/** Why a Redis does not support a lock, and what to do, as sentences by lock name. */
export type Lacks = Record<string, string>;

/**
 *
 * The one place that knows which locks a Redis does not support because it lacks their commands. Each server that accepts
 * writes is asked for the commands, because a fork's version says nothing. Rejects if one does not reply.
 *
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
        : `${name} does not allow COMMAND INFO, which would say whether it has ${names.join(' or ')}; ${lock} needs one of them.`;
    }
  }
  return lacks;
}
