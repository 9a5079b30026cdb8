// Finds the keys of a lock: those that its commands change when one sale after another enters and leaves alone.

import { type ProcessOptions, startProcess } from './process.ts';
import { keysOf, LEASE_MS, LOCK_KEY } from './sale.ts';
import type { Server, ServerState } from './server.ts';
import { type SearchSentence, says } from './wording.ts';

/** The lock's own key, in the names below. */
const KEY = '<key>';

export interface LockKeys {
  /** Those that are there, or are another's, for as long as somebody holds it: it is free when one of them is gone. */
  held: string[];
  /** Those that stay when it is free: they have the same names each time, do not grow, and keep nobody from entering. */
  staying: string[];
  /** Why it can't be seen whether it is free. */
  unclear?: SearchSentence;
}

/** A lock whose key is the one that it is given. */
export const itsKey: LockKeys = { held: [KEY], staying: [] };

/** The names of a lock with this key. */
export const namesFor = (names: string[], key: string) => names.map((name) => name.replaceAll(KEY, key));

/** The last millisecond in which all of these keys are there; -1 when one is not. */
export const endOf = (names: string[], ends: ReadonlyMap<string, number>) =>
  Math.min(...names.map((name) => ends.get(name) ?? -1));

/** Another tries so long after its holder entered, in milliseconds. */
const LATER_MS = 2 * LEASE_MS;
/** So many steps of a sale that is alone are followed. */
const MOST_STEPS = 400;

type Contents = Map<string, string>;

/** Finds the keys of a lock on these servers. What can't be seen of one that does not enter is taken from its key. */
export async function findLockKeys(
  common: Omit<ProcessOptions, 'script' | 'sales' | 'servers'>,
  server: Server,
  servers: ServerState[],
): Promise<LockKeys> {
  const { stock, fence } = keysOf(1);
  const before = contentsOf(servers);
  const first = await enterAlone('1', servers);
  if (first === undefined) return itsKey;
  const second = await enterAlone('2', first.servers);
  if (second === undefined) return itsKey;
  const held = [...first.inside].filter(([name, text]) => first.after.get(name) !== text && before.get(name) !== text);
  const names = held.map(([name]) => name);
  const shown = { keys: namesFor(names, LOCK_KEY) };
  const isSame = names.every((name) => second.inside.has(name));
  const hasNoTtl = first.entered.some((each) => endOf(names, server.ends(each)) === Number.POSITIVE_INFINITY);
  const left = [...second.after].filter(([name, text]) => first.after.get(name)?.length === text.length);
  return {
    held: names.length > 0 ? names : [KEY],
    staying: second.hasWaited ? [] : left.map(([name]) => name),
    // Its holder does nothing more. Whom its key lets in all the same, the lease let in.
    ...(hasNoTtl &&
      names.length > 0 &&
      (await enterAlone('3', first.entered, LATER_MS)) && { unclear: says('a lease in a value', shown) }),
    ...(!isSame && { unclear: says('a key for each holder', shown) }),
    ...(names.some((name) => first.after.has(name)) && { unclear: says('a key that stays', shown) }),
  };

  /** One sale, until nothing is on its way any more. Undefined when it does not end so. */
  async function enterAlone(name: string, from: ServerState[], at = 0) {
    const servers = [...from];
    const script = { businessMs: 0, key: KEY };
    const openLock: typeof common.openLock = (world) => ({ createLock: common.openLock(world).createLock });
    const live = startProcess(`alone-${name}`, { openLock, servers: servers.length, sales: 1, script });
    const heard: { channel: string; message: string }[] = [];
    const happens = { at, chance: 0 };
    let entered: ServerState[] | undefined;
    await live.apply({ ...happens, type: 'begins' });
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const { pending, timers, told, isOver, death } = live.seen();
      if (death !== undefined) return undefined;
      if (told.some(({ step }) => step === 'entered')) entered ??= [...servers];
      const [head] = pending;
      const message = heard.shift();
      const timer = timers.toSorted((one, other) => one.due - other.due)[0];
      if (head) {
        const { reply, after, messages } = server.execute(servers[head.server] ?? 0, happens.at, 0, head.command);
        servers[head.server] = after;
        heard.push(...messages);
        await live.apply({ ...happens, type: 'reply', id: head.id, reply });
      } else if (message) await live.apply({ ...happens, ...message, type: 'message' });
      else if (isOver) {
        const after = contentsOf(servers);
        return entered && { entered, inside: contentsOf(entered), after, servers, hasWaited: happens.at > at };
      } else if (timer) {
        happens.at = timer.due;
        await live.apply({ ...happens, type: 'timer', id: timer.id });
      } else return undefined;
    }
    return undefined;
  }

  /** What the servers hold of the lock. */
  function contentsOf(servers: ServerState[]): Contents {
    const all = servers.flatMap((each) =>
      [...server.ends(each).keys()].map((key) => [key, server.entry(each, key) ?? ''] as const),
    );
    return new Map(all.filter(([key]) => key !== stock && key !== fence));
  }
}
