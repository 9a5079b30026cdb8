// The Redis clients of a process. A client has every member of ioredis: whatever is not defined here is a command.

import { Redis } from 'ioredis';
import type { Command, Commands, Line } from './commands.ts';
import type { Moment } from './moment.ts';

/** A connection that may be lost, as its client sees it. */
export interface Connected {
  isReady(): boolean;
  /** How long an answer is waited for, in milliseconds. */
  answerLimitMs: number;
  listeners: Record<'ready' | 'close', Set<() => void>>;
}

/** What ioredis says of a command that it does not send: it has no connection. */
const NOT_WRITEABLE = "Stream isn't writeable and enableOfflineQueue options is false";

export function createClients(moment: Moment, commands: Commands) {
  const hearers: ((channel: string, message: string) => void)[] = [];
  /** By the numbers of the servers. One that is not here stands for good. */
  const connections: Connected[] = [];
  const isLost = (server: number) => connections[server]?.isReady() === false;

  /**
   * A client of ioredis as far as locks use it. While its connection is lost, each command rejects, and none is kept for later.
   */
  function clientOf(server: number, line: Line = 'commands'): Record<string, unknown> {
    const send = (command: Command) =>
      isLost(server) ? Promise.reject(new Error(NOT_WRITEABLE)) : commands.send(server, command, line);
    const command =
      (verb: string) =>
      (...args: Command) =>
        send([verb.toUpperCase(), ...args.flat()]);
    const toldOf = (event: string) => connections[server]?.listeners[event as 'ready' | 'close'];
    const own: Record<string, unknown> = {
      get status() {
        return isLost(server) ? 'reconnecting' : 'ready';
      },
      get options() {
        return { socketTimeout: connections[server]?.answerLimitMs };
      },
      duplicate: () => clientOf(server, 'messages'),
      on(event: string, listener: (...message: string[]) => void) {
        if (line === 'messages' && event === 'message') hearers.push(listener);
        toldOf(event)?.add(listener);
        return client;
      },
      once(event: string, listener: () => void) {
        const once = () => {
          toldOf(event)?.delete(once);
          listener();
        };
        toldOf(event)?.add(once);
        return client;
      },
      off(event: string, listener: () => void) {
        toldOf(event)?.delete(listener);
        return client;
      },
      disconnect() {},
      quit: async () => 'OK',
      hgetall: async (key: string) => pairsOf((await command('hgetall')(key)) as string[]),
      /** The service has its last connection ended by the server: the embedded Valkey does not do it, so nothing is asked. */
      call: (verb: string, ...args: Command) =>
        verb === 'CLIENT' && connections[server] ? Promise.resolve('') : command(verb)(...args),
      multi: () => moment.refuse('MULTI'),
      pipeline: () => moment.refuse('a pipeline'),
      defineCommand(verb: string, { lua, numberOfKeys }: { lua: string; numberOfKeys?: number }) {
        const count = numberOfKeys === undefined ? [] : [numberOfKeys];
        own[verb] = (...args: Command) => send(['EVAL', lua, ...count, ...args.flat()]);
      },
    };
    const client = withCommands(own, command);
    return client;
  }

  return {
    clientOf,
    /** From here on the client of a server speaks over a connection that may be lost. */
    connect(server: number, connection: Connected) {
      connections[server] = connection;
    },
    hear(channel: string, message: string) {
      for (const hearer of hearers) hearer(channel, message);
    },
  };
}

const withCommands = (own: Record<string, unknown>, command: (verb: string) => unknown): Record<string, unknown> =>
  new Proxy(own, {
    get(_target, verb) {
      if (typeof verb === 'symbol') return undefined;
      // A lock may ask whether a script was defined before it defines it.
      return own[verb] ?? (verb in Redis.prototype ? command(verb) : undefined);
    },
  });

function pairsOf(fields: string[]) {
  const isName = (_field: string, at: number) => at % 2 === 0;
  return Object.fromEntries(fields.filter(isName).map((field, at) => [field, fields[at * 2 + 1]]));
}
