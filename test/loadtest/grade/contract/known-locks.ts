// Correct locks, and the same locks with one well-known bug each: what differs, and the check that must catch it.

import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectDir } from '../../../../scripts/stack/parts.ts';
import { writeModule } from '../modules.ts';

const here = 'test/loadtest/grade/contract/controls';

/** The correct locks, by their names: where they are, and what they promise where they do not say it themselves. */
const controls = {
  template: { file: 'loadtest/grade/my-lock-template.ts', promises: {} },
  renewing: { file: `${here}/renewing.ts`, promises: undefined },
  woken: { file: `${here}/woken.ts`, promises: undefined },
  fair: { file: 'locks/beyond/fair.ts', promises: { reentry: true, renewal: true, fairness: 'order' } },
  cohort: { file: 'locks/beyond/cohort.ts', promises: { reentry: true, renewal: true, fairness: 'bounded' } },
} as const;

export type ControlName = keyof typeof controls;
export const controlNames = Object.keys(controls) as ControlName[];

/** A lock with a bug. */
interface WrongLock {
  name: string;
  /** The correct lock that it is otherwise. */
  from: ControlName;
  /** What stands where in its file, and in a file that it imports, and what stands there instead. */
  changes: { find: string; replace: string; in?: string }[];
  /** The check that catches it by name. */
  caughtBy: string;
}

export const wrongLocks: WrongLock[] = [
  {
    name: 'get-then-del',
    from: 'renewing',
    changes: [
      {
        find: 'if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);',
        replace:
          'if ((await redis.get(key)) !== ownerToken || (await redis.del(key)) === 0) throw new LockNotHeldError(key);',
      },
    ],
    caughtBy: 'contract-late-release',
  },
  {
    name: 'setnx-then-pexpire',
    from: 'renewing',
    changes: [
      {
        find: 'token = Number(await redis.eval(takeIfFree, 2, key, counter, ownerToken, leaseMs));',
        replace:
          'token = Number(await redis.setnx(key, ownerToken)); if (token === 1) { await redis.pexpire(key, leaseMs); token = Date.now(); }',
      },
    ],
    caughtBy: 'contract-crash',
  },
  {
    name: 'token-from-a-later-incr',
    from: 'renewing',
    changes: [
      {
        find: 'token = Number(await redis.eval(takeIfFree, 2, key, counter, ownerToken, leaseMs));',
        replace:
          "const taken = await redis.set(key, ownerToken, 'PX', leaseMs, 'NX'); token = taken === 'OK' ? await redis.incr(counter) : 0;",
      },
    ],
    caughtBy: 'contract-late-acquire',
  },
  {
    name: 'renews-any-holder',
    from: 'renewing',
    changes: [
      { find: 'redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs)', replace: 'redis.pexpire(key, leaseMs)' },
      // It never learns of its loss while anybody holds.
      { find: 'else lose();', replace: '' },
    ],
    caughtBy: 'contract-dead-heir',
  },
  {
    name: 'stops-after-six-renewals',
    from: 'renewing',
    changes: [
      { find: 'let token = 0;', replace: 'let token = 0; let renewals = 0;' },
      {
        find: 'const askedAt = performance.now();',
        replace: 'renewals += 1; if (renewals > 6) return; const askedAt = performance.now();',
      },
    ],
    caughtBy: 'contract-long-hold',
  },
  {
    name: 'timer-stays',
    from: 'renewing',
    changes: [{ find: 'clearInterval(watchdog);', replace: '' }],
    caughtBy: 'contract-quiet',
  },
  {
    name: 'rejected-renewal-ends-the-process',
    from: 'renewing',
    changes: [{ find: 'ownerToken, leaseMs).catch(() => undefined);', replace: 'ownerToken, leaseMs);' }],
    caughtBy: 'contract-failed-renewal',
  },
  {
    name: 'lost-wake-up',
    from: 'woken',
    changes: [{ find: '{ waiters: [], hasNews: true,', replace: '{ waiters: [], hasNews: false,' }],
    caughtBy: 'contract-wake-up',
  },
  {
    name: 'wakes-all',
    from: 'woken',
    changes: [
      {
        find: 'tellNews(ofClient.get(heard))',
        replace: 'ofClient.get(heard)?.waiters.slice().forEach((waiter) => waiter())',
      },
      {
        find: 'if (room.waiters[0] === waiter && room.hasNews) {',
        replace:
          'if (ofClient.has(channel)) { leftMs = await tryOnce(); if (leftMs > 0) await asleep(room, leftMs, (woken) => (wake = woken), signal); } else if (room.hasNews) {',
      },
    ],
    caughtBy: 'contract-herd',
  },
  {
    name: 'ignores-its-signal',
    from: 'renewing',
    changes: [{ find: 'await sleep(retryDelayMs, undefined, { signal });', replace: 'await sleep(retryDelayMs);' }],
    caughtBy: 'contract-abort',
  },
  {
    name: 'aborted-on-its-way',
    from: 'renewing',
    changes: [
      {
        find: 'token = Number(await redis.eval(takeIfFree, 2, key, counter, ownerToken, leaseMs));',
        replace:
          'const asked = redis.eval(takeIfFree, 2, key, counter, ownerToken, leaseMs); token = Number(await (_signal?.aborted ? asked : abortable(asked, _signal)));',
      },
      {
        find: 'import { type CreateLock',
        replace: "import { abortable } from '../../../../../locks/drivers/abortable.ts';\nimport { type CreateLock",
      },
    ],
    caughtBy: 'contract-abort',
  },
  {
    name: 'stays-in-the-queue',
    from: 'fair',
    changes: [
      {
        find: 'leave();\n      throw error;',
        replace: "setInterval(() => ask('wait').catch(ignore), leaseMs / 3).unref();\n      throw error;",
      },
    ],
    caughtBy: 'contract-abort-many',
  },
  {
    name: 'release-that-resolves',
    from: 'renewing',
    changes: [
      {
        find: 'if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);',
        replace: 'await redis.eval(releaseIfOwner, 1, key, ownerToken);',
      },
    ],
    caughtBy: 'contract-not-held',
  },
  {
    name: 'lost-that-never-aborts',
    from: 'renewing',
    changes: [{ find: 'lost.abort(new LockNotHeldError(key));', replace: '' }],
    caughtBy: 'contract-lost',
  },
  {
    name: 'process-as-owner',
    from: 'renewing',
    changes: [
      { find: '({ redis, key, ownerToken, leaseMs,', replace: '({ redis, key, leaseMs,' },
      ownToken('process.pid'),
    ],
    caughtBy: 'contract-same-node',
  },
  {
    name: 'keeps-every-token',
    from: 'renewing',
    changes: [
      { find: 'export const createLock', replace: 'const known = new Map<string, true>();\n\nexport const createLock' },
      { find: 'const lost = ', replace: 'known.set(ownerToken, true);\n  const lost = ' },
    ],
    caughtBy: 'contract-heap',
  },
  {
    name: 'key-for-each-acquisition',
    from: 'renewing',
    changes: [
      {
        find: 'return token > 0;',
        replace: 'if (token > 0) await redis.set([key, ownerToken].join(), 1);\n    return token > 0;',
      },
    ],
    caughtBy: 'contract-leftovers',
  },
  {
    name: 'key-of-its-own',
    from: 'renewing',
    changes: [
      { find: '({ redis, key, ownerToken,', replace: '({ redis, key: _key, ownerToken,' },
      { find: 'const counter = ', replace: "const key = 'lock:inventory';\n  const counter = " },
    ],
    caughtBy: 'contract-keys',
  },
  {
    name: 'key-with-a-prefix',
    from: 'renewing',
    changes: [
      { find: '({ redis, key, ownerToken,', replace: '({ redis, key: given, ownerToken,' },
      { find: 'const counter = ', replace: "const key = 'mutex:'.concat(given);\n  const counter = " },
    ],
    caughtBy: 'contract-keys',
  },
  {
    name: 'spins',
    from: 'renewing',
    changes: [{ find: 'sleep(retryDelayMs, undefined', replace: 'sleep(0, undefined' }],
    caughtBy: 'contract-commands',
  },
  {
    name: 'frees-at-the-first-release',
    from: 'renewing',
    changes: [{ find: 'if (holdCount > 1)', replace: 'if (holdCount > 2)' }],
    caughtBy: 'contract-nested',
  },
  {
    name: 'in-process',
    from: 'renewing',
    changes: [{ find: 'tryOnce(signal)', replace: 'true' }],
    caughtBy: 'contract-enter',
  },
  {
    name: 'last-in-first-out',
    from: 'fair',
    changes: [
      ownScript('acquire-in-turn', [
        { find: "'ZRANGE', KEYS[2], -1, -1, 'WITHSCORES'", replace: "'ZRANGE', KEYS[2], 0, 0, 'WITHSCORES'" },
        { find: '(last[2] or 0) + 1', replace: '(last[2] or 0) - 1' },
      ]),
    ],
    caughtBy: 'contract-order',
  },
  {
    name: 'lets-anybody-in',
    from: 'fair',
    changes: [ownScript('acquire-in-turn', [{ find: '(is_free and first == ARGV[1])', replace: 'is_free' }])],
    caughtBy: 'contract-order',
  },
  {
    name: 'tenure-without-end',
    from: 'cohort',
    changes: [
      {
        in: 'locks/drivers/cohort-node.ts',
        find: 'if (waiters.length === 0 || here.holdersLeft === 0 || performance.now() > here.endsAt)',
        replace: 'if (waiters.length === 0)',
      },
    ],
    caughtBy: 'contract-turn',
  },
];

/** Writes a correct lock as a module of its own, and returns its path. */
export function writeControl(name: ControlName): string {
  return write(name, { name, from: name, changes: [], caughtBy: '' });
}

/** Writes a lock with its bug as a module, and returns its path. Throws when there is nothing to change. */
export function writeWrongLock(lock: WrongLock): string {
  return write(lock.name, lock);
}

function write(name: string, { from, changes }: WrongLock): string {
  const { file, promises } = controls[from];
  let text = changed(
    file,
    changes.filter((change) => change.in === undefined),
  );
  for (const other of new Set(changes.flatMap((change) => change.in ?? []))) {
    const its = changed(
      other,
      changes.filter((change) => change.in === other),
    );
    text = text.replace(join(projectDir, other), writeModule('changed.ts', its));
  }
  return writeModule(`${name}.ts`, promises ? `${text}\nexport const promises = ${JSON.stringify(promises)};\n` : text);
}

/** A file with what is changed in it, and the places of what it imports. */
function changed(file: string, changes: WrongLock['changes']): string {
  const path = join(projectDir, file);
  const text = changes.reduce(
    (text, { find, replace }) => {
      if (!text.includes(find)) throw new Error(`${file} does not have the text ${JSON.stringify(find)}.`);
      return text.replaceAll(find, () => replace);
    },
    readFileSync(path, 'utf8'),
  );
  return text.replace(/from '(\.[^']+)'/g, (_, place) => `from '${resolve(dirname(path), place)}'`);
}

function ownToken(value: string) {
  return { find: 'const lost = ', replace: `const ownerToken = String(${value});\n  const lost = ` };
}

/** A script that differs from the one in `lua/`. */
function ownScript(name: string, changes: { find: string; replace: string }[]) {
  const lua = changed(`lua/${name}.lua`, changes);
  return {
    find: `readScript('${name}')`,
    replace: `(redis, keys, args) => redis.eval(${JSON.stringify(lua)}, keys.length, ...keys, ...args)`,
  };
}
