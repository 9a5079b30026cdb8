import type { Redis } from 'ioredis';

type Send = () => Promise<unknown>;

/** A client whose commands a test can see, hold back and fail. It talks to the real server over the connection of `redis`. */
export function watchClient(redis: Redis) {
  const sent: string[] = [];
  const plans = new Map<string, ((send: Send) => Promise<unknown>)[]>();
  const commands = new Set(['set', 'get', 'del', 'incr', 'evalsha', 'eval', 'delifeq', 'delex']);

  const client = new Proxy(redis, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'call' && !commands.has(String(name))) return value.bind(target);
      return (...args: unknown[]) => {
        // A command that the client has no method for.
        const command = name === 'call' ? String(args[0]).toLowerCase() : String(name);
        const send = () => value.apply(target, args);
        if (!commands.has(command)) return send();
        sent.push(command);
        const plan = plans.get(command)?.shift();
        return plan ? plan(send) : send();
      };
    },
  });

  function planNext(command: string, plan: (send: Send) => Promise<unknown>) {
    plans.set(command, [...(plans.get(command) ?? []), plan]);
  }

  return {
    client,
    /** The commands so far, by name. */
    sent,
    /** Holds the next such command back. `reached` resolves when it is about to be sent, which letGo() then allows. */
    hold(command: string) {
      let letGo = () => {};
      const gate = new Promise<void>((resolve) => (letGo = resolve));
      const reached = new Promise<void>((resolve) => {
        planNext(command, async (send) => {
          resolve();
          await gate;
          return send();
        });
      });
      return { reached, letGo };
    },
    /** Sends the next such command, and holds its answer back. `reached` resolves when the answer is here. */
    holdAnswer(command: string) {
      let letGo = () => {};
      const gate = new Promise<void>((resolve) => (letGo = resolve));
      const reached = new Promise<void>((resolve) => {
        planNext(command, async (send) => {
          const answer = await send();
          resolve();
          await gate;
          return answer;
        });
      });
      return { reached, letGo };
    },
    /** Rejects the next such command with `error` instead of sending it. Resolves when that has happened. */
    fail(command: string, error: Error) {
      return new Promise<void>((resolve) => {
        planNext(command, async () => {
          resolve();
          throw error;
        });
      });
    },
    /** Settles as the next such command does. */
    nextAnswer(command: string) {
      return new Promise<unknown>((resolve) => {
        planNext(command, (send) => {
          const answer = send();
          resolve(answer);
          return answer;
        });
      });
    },
  };
}
