// A client of ioredis over a connection that may be lost: it knows whether that stands, and keeps no command for later.

import type { NodeConnection } from './connection.ts';

/** What ioredis says of a command that it does not send: it has no connection. */
const NOT_WRITEABLE = "Stream isn't writeable and enableOfflineQueue options is false";

type Members = Record<string, unknown>;
type Call = (...args: unknown[]) => unknown;

/** What ioredis does itself, whether it is connected or not. */
const local = new Set(['options', 'disconnect', 'quit', 'defineCommand', 'multi', 'pipeline']);

/** The client of a world (world.ts), for as long as its connection stands. While it does not, every command rejects. */
export function createClient(connection: NodeConnection, client: Members): object {
  const { listeners } = connection;
  const away = () => (connection.isReady() ? undefined : Promise.reject(new Error(NOT_WRITEABLE)));
  const isOfConnection = (event: string): event is 'ready' | 'close' => event in listeners;

  const own: Members = {
    options: { socketTimeout: connection.answerLimitMs },
    on(event: string, listener: () => void) {
      if (isOfConnection(event)) listeners[event].add(listener);
      else (client['on'] as Call)(event, listener);
      return proxy;
    },
    once(event: string, listener: () => void) {
      if (!isOfConnection(event)) return proxy;
      const once = () => {
        listeners[event].delete(once);
        listener();
      };
      listeners[event].add(once);
      return proxy;
    },
    off(event: string, listener: () => void) {
      if (isOfConnection(event)) listeners[event].delete(listener);
      return proxy;
    },
    duplicate: () => createClient(connection, (client['duplicate'] as Call)() as Members),
    /** The service has its last connection ended by the server: the embedded Valkey does not do it, so nothing is asked. */
    call: (verb: string, ...args: unknown[]) =>
      verb === 'CLIENT' ? Promise.resolve('') : (away() ?? (client['call'] as Call)(verb, ...args)),
  };

  const proxy: object = new Proxy(own, {
    get(_target, member) {
      if (typeof member === 'symbol') return undefined;
      if (member === 'status') return connection.isReady() ? 'ready' : 'reconnecting';
      const value = own[member] ?? client[member];
      if (typeof value !== 'function' || member in own || local.has(member)) return value;
      return (...args: unknown[]) => away() ?? (value as Call)(...args);
    },
  });
  return proxy;
}
