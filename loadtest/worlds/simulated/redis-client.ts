// A client of the harness for a simulated server, over its own connection, which no fault breaks.

import type { RedisClient } from '../../../locks/lock.ts';
import { OUTSIDE, type VirtualServer } from '../../../simulation/server.ts';
import { type Reply, ReplyError } from '../../../simulation/valkey.ts';
import type { Command } from '../../../simulation/world/commands.ts';
import type { Harness } from './driver.ts';

/** How long a command takes to its server, in milliseconds; the answer is there at once. */
const WAY_MS = 0.1;

const isOfClient = new Set(['on', 'once', 'off', 'disconnect']);
/** What Valkey in WebAssembly does not know: the lab does what it stands for. */
const answers: Record<string, Reply> = { INFO: '', REPLICAOF: 'OK' };
const isAnswered = (verb: unknown) => Object.hasOwn(answers, String(verb));

/** Has as much of ioredis as the harness uses. `find` gives the server at the time of the command. */
export function createHarnessClient(harness: Harness, find: () => VirtualServer, limitMs?: number): RedisClient {
  /** Sends commands together. Resolves with a reply to each, in their order; rejects when none comes in time. */
  function askAll(commands: Command[]): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      // Of thousands of commands almost none is late: an error is made for one that is.
      if (limitMs !== undefined) harness.after(limitMs, () => isOver || reject(new Error('Command timed out')));
      harness.after(WAY_MS, () => {
        const server = find();
        if (server.isDead()) return reject(new Error('Connection is closed.'));
        server.receive(() => {
          const read = commands.map(([name, ...args]): Command => [String(name).toUpperCase(), ...args]);
          const replies = server.executeAll(
            OUTSIDE,
            read.filter(([verb]) => !isAnswered(verb)),
          );
          isOver = true;
          resolve(read.map(([verb]) => (isAnswered(verb) ? answers[String(verb)] : replies.shift()) ?? null));
        });
      });
    });
  }

  async function ask(command: Command): Promise<Reply> {
    const [reply = null] = await askAll([command]);
    if (reply instanceof ReplyError) throw new Error(reply.message);
    return reply;
  }

  /** Commands that are sent together: each is answered by `[error, reply]`. */
  function pipeline() {
    const commands: Command[] = [];
    const exec = async () => {
      const replies = await askAll(commands);
      return replies.map((reply) => (reply instanceof ReplyError ? [reply, null] : [null, reply]));
    };
    const chain: object = new Proxy(
      {},
      {
        get: (_target, verb) =>
          verb === 'exec'
            ? exec
            : (...args: Command) => {
                commands.push([String(verb), ...args]);
                return chain;
              },
      },
    );
    return chain;
  }

  const client: object = new Proxy(
    {},
    {
      get(_target, member) {
        if (typeof member === 'symbol' || member === 'then') return undefined;
        if (member === 'status') return 'ready';
        if (isOfClient.has(member)) return () => client;
        if (member === 'pipeline') return pipeline;
        if (member === 'call') return (...command: Command) => ask(command);
        return (...args: Command) => ask([member, ...args.flat()]);
      },
    },
  );
  return client as RedisClient;
}
