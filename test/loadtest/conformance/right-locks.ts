// Locks without a bug, each as the text of a module: what the wrong ones are made of.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../../stack/parts.ts';
import { mutate } from '../../mutations/mutation.ts';

/** It renews each third of its lease, and counts the lease from the moment at which it asked. */
const plain = `
import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError } from '${projectDir}locks/lock.ts';
const ifOwner = (act) => \`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call(\${act})\`;
export const promises = { renewal: true };
const shared = {};
/** A script that the server is given once, and then called by its name. */
const byName = async (redis, script, ...args) => redis.evalsha(await (shared[script] ??= redis.script('LOAD', script)), ...args);
export const createLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const gone = new AbortController();
  let [end, mine, isOver] = [undefined, undefined, true];
  const stop = () => { isOver = true; clearTimeout(end); clearInterval(mine); };
  const lose = () => { stop(); onLeaseLost(); gone.abort(new LockNotHeldError(key)); };
  const until = (at) => { clearTimeout(end); end = setTimeout(lose, at - performance.now()); };
  const renew = async () => {
    const from = performance.now();
    const kept = await redis.eval(ifOwner("'PEXPIRE', KEYS[1], ARGV[2]"), 1, key, ownerToken, leaseMs).catch(() => undefined);
    if (isOver) return;
    if (kept === 0) lose();
    else if (kept === 1) until(from + leaseMs);
  };
  const take = (signal) => redis.set(key, ownerToken, 'PX', leaseMs, 'NX');
  const lock = {
    lost: gone.signal,
    async acquire(signal) {
      let at = performance.now();
      for (; (await take(signal)) !== 'OK'; at = performance.now()) await sleep(retryDelayMs, undefined, { signal });
      isOver = false;
      until(at + leaseMs);
      mine = setInterval(renew, leaseMs / 3);
    },
    async release() {
      stop();
      if ((await redis.eval(ifOwner("'DEL', KEYS[1]"), 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);
    },
  };
  return lock;
};
`;

/** One caller of a process after the other asks, the next one when that has released or its lease is over: so some wait for long. */
const turns = `
import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError } from '${projectDir}locks/lock.ts';
const drop = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";
const last = new Map();
const go = (signal, over) => new Promise((resolve, reject) => {
  if (signal.aborted) setImmediate(reject, signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over });
});
export const createLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let pass = () => {};
  return {
    async acquire(signal = new AbortController().signal) {
      const isOneTry = signal.aborted;
      const before = last.get(key) ?? Promise.resolve();
      const mine = new Promise((resolve) => { pass = resolve; });
      last.set(key, before.then(() => mine));
      const over = new AbortController();
      try {
        await Promise.race([before, go(signal, over.signal)]).finally(() => over.abort());
        while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs, undefined, { signal });
        if (signal.aborted && !isOneTry) await redis.eval(drop, 1, key, ownerToken).then(() => { throw signal.reason; });
      } catch (error) {
        pass();
        throw error;
      }
      const end = setTimeout(pass, leaseMs);
      void mine.then(() => clearTimeout(end));
    },
    async release() {
      if ((await redis.eval(drop, 1, key, ownerToken).finally(pass)) === 0) throw new LockNotHeldError(key);
    },
  };
};
`;

const set = "redis.set(key, ownerToken, 'PX', leaseMs, 'NX')";
const wait = 'await sleep(retryDelayMs, undefined, { signal });';
const freed = `redis.eval(ifOwner("'DEL', KEYS[1]"), 1, key, ownerToken)`;
const promised = '{ renewal: true }';

/** The lock with other texts in the place of these. */
function edited(edits: Record<string, string>, text = plain): string {
  return Object.entries(edits).reduce(
    (text, [find, replace]) => mutate(text, { file: 'right-locks.ts', find, replace }),
    text,
  );
}

/** A script takes the lock and makes the next token. */
const fenced = edited({
  [promised]: '{ renewal: true, fencing: true }',
  [set]: `redis.eval(\`if not redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 0 end
    return redis.call('INCR', KEYS[2])\`, 2, key, key.concat(':tokens'), ownerToken, leaseMs)
    .then((token) => { if (token) lock.fencingToken = String(token); return token && 'OK'; })`,
});

/** It has no `lost`, and learns from its renewals alone that the key is another's: then it calls `onLeaseLost`. */
const mute = edited({
  'lost: gone.signal,': '',
  'gone.abort(new LockNotHeldError(key));': '',
  'end = setTimeout(lose, at - performance.now());': '',
});

/** A release is published, and each process listens once: a message wakes one of its waiters. */
const woken = edited({
  'const take': `const subscribe = async () => {
    const bell = redis.duplicate({ enableOfflineQueue: true });
    bell.on('message', () => shared.waiters.shift()?.());
    await bell.subscribe(key.concat(':bell'));
  };
  shared.waiters ??= [];
  const listen = () => (shared.listening ??= subscribe());
  const heard = (signal) => new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const again = setTimeout(resolve, leaseMs / 3);
    const awake = () => { clearTimeout(again); resolve(); };
    shared.waiters.push(awake);
    signal.addEventListener('abort', () => { shared.waiters = shared.waiters.filter((each) => each !== awake); clearTimeout(again); reject(signal.reason); }, { once: true });
  });
  const take`,
  'for (;': 'await listen(); for (;',
  [wait]: 'await heard(signal);',
  'throw new LockNotHeldError(key);\n    },':
    "throw new LockNotHeldError(key);\n      await redis.publish(key.concat(':bell'), '');\n    },",
});

/** Who waits has a place in a queue, for as long as he asks: who has been silent is passed over. */
const queue = edited({
  [promised]: "{ renewal: true, fairness: 'order' }",
  [set]: `redis.eval(\`
      local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)
      local function first() return redis.call('LINDEX', KEYS[2], 0) end
      if not redis.call('LPOS', KEYS[2], ARGV[1]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end
      redis.call('HSET', KEYS[3], ARGV[1], now)
      redis.call('PEXPIRE', KEYS[2], ARGV[2]) redis.call('PEXPIRE', KEYS[3], ARGV[2])
      while now - redis.call('HGET', KEYS[3], first()) > 200 do redis.call('LREM', KEYS[2], 0, first()) end
      if redis.call('EXISTS', KEYS[1]) == 1 or first() ~= ARGV[1] then return 0 end
      redis.call('LREM', KEYS[2], 0, ARGV[1])
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      return 1\`, 3, key, key.concat(':queue'), key.concat(':heard'), ownerToken, leaseMs).then((taken) => taken === 1 && 'OK')`,
});

/** Its key has no TTL: a field says when the lease is over, by the clock of the server. */
const now = "local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)";
const isMine =
  "redis.call('HGET', KEYS[1], 'owner') == ARGV[1] and tonumber(redis.call('HGET', KEYS[1], 'over')) > now";
const clocked = edited({
  [set]: `redis.eval(\`${now}
    if tonumber(redis.call('HGET', KEYS[1], 'over') or 0) > now then return 0 end
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'over', now + ARGV[2]) return 1\`, 1, key, ownerToken, leaseMs)
    .then((taken) => taken === 1 && 'OK')`,
  [`ifOwner("'PEXPIRE', KEYS[1], ARGV[2]")`]: `\`${now}
    if ${isMine} then redis.call('HSET', KEYS[1], 'over', now + ARGV[2]) return 1 end return 0\``,
  [freed]: `redis.eval(\`${now} if ${isMine} then return redis.call('DEL', KEYS[1]) end return 0\`, 1, key, ownerToken)`,
});

/** A release leaves a signal in a list, and who waits pops it. */
const popping = edited({
  [wait]: `{ const line = redis.duplicate({ enableOfflineQueue: true });
        signal.addEventListener('abort', () => line.disconnect(), { once: true });
        await line.blpop(key.concat(':signal'), leaseMs / 1_000).finally(() => line.disconnect()).catch(() => {});
        signal.throwIfAborted(); }`,
  'throw new LockNotHeldError(key);\n    },': `throw new LockNotHeldError(key);
      const signal = key.concat(':signal');
      await redis.del(signal);
      await redis.lpush(signal, 1);
      await redis.pexpire(signal, leaseMs);
    },`,
});

/** It waits for 50 ms for a reply, and gives back what it did not wait for. */
const hasty = edited({
  'const take': `const giveBack = () => redis.eval(ifOwner("'DEL', KEYS[1]"), 1, key, ownerToken).catch(() => {});\n  const take`,
  [set]: `Promise.race([${set}, sleep(50, 'late')]).then(async (answer) => {
    if (answer === 'late') giveBack();
    return answer;
  })`,
});

/** Our own, in which masters vote, and each is waited for for 50 ms. */
const redlock = readFileSync(join(projectDir, 'locks/beyond/redlock.ts'), 'utf8')
  .replace(/'\.\.\//g, `'${projectDir}locks/`)
  .concat('export const promises = { masters: true, reentry: true, renewal: true };');

/** Our own, with a read lock. */
const readWrite = readFileSync(join(projectDir, 'locks/beyond/read-write.ts'), 'utf8')
  .replace(/'\.\.\//g, `'${projectDir}locks/`)
  .concat('export const promises = { reentry: true, renewal: true };');

/** Our own, which waits for a replica. */
const confirmed = readFileSync(join(projectDir, 'locks/beyond/replicated.ts'), 'utf8')
  .replace(/'\.\.\//g, `'${projectDir}locks/`)
  .concat('export const promises = { reentry: true, renewal: true };');

/** All masters vote. */
const voting = edited({
  [promised]: '{ masters: true }',
  '({ redis,': '({ masters,',
  [set]: `Promise.race([Promise.all(masters.map((master) => master.set(key, ownerToken, 'PX', leaseMs, 'NX'))), sleep(50)]).then(async (votes) => {
    if (votes?.every((vote) => vote === 'OK')) return 'OK';
    await giveBack();
    throw new Error('There is no majority.');
  })`,
  'const take': `const giveBack = () => Promise.all(masters.map((master) => master.eval(ifOwner("'DEL', KEYS[1]"), 1, key, ownerToken)));\n  const take`,
  'mine = setInterval(renew, leaseMs / 3);': '',
  [`(await ${freed}) === 0`]: '!(await giveBack()).every((one) => one === 1)',
});

export const rightLocks = {
  plain,
  fenced,
  /** Its owner is digits, it keeps its lock under another name, and it asks again after an error: all three look wrong. */
  odd: edited({
    'const gone': "key += ':lock'; ownerToken = String(Math.random()).slice(2);\n  const gone",
    [set]: `${set}.catch(async () => sleep(250).then(async () => ((await redis.get(key)) === ownerToken ? 'OK' : ${set})))`,
  }),
  /** A retry looks first whether the key is still its own, and asks for nothing more when it is not. */
  retried: edited({
    [promised]: '{ renewal: true, releaseRetry: true }',
    'stop();\n      if': `const isAgain = isOver; stop();
      if (isAgain && (await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);\n      if`,
  }),
  turns,
  /** Its tokens are times of the server, far from each other. */
  oddFenced: edited({ "redis.call('INCR', KEYS[2])": "string.format('%d%06d', unpack(redis.call('TIME')))" }, fenced),
  mute,
  /** It notes that the key is another's, and calls `onLeaseLost` when the lease is over by its own clock. */
  oddMute: edited(
    {
      'kept === 0) lose();': 'kept === 0) { stop(); end = setTimeout(lose, endsAt - from); }',
      'else if (kept === 1) until(from + leaseMs);': 'else if (kept === 1) endsAt = from + leaseMs;',
      'until(at + leaseMs);': 'endsAt = at + leaseMs;',
      'let [end,': 'let endsAt = 0;\n  let [end,',
    },
    mute,
  ),
  /** It makes `lost` when somebody looks at it, or when it is lost. */
  lazy: edited({
    'const gone = new AbortController();': 'let made;\n  const gone = () => (made ??= new AbortController());',
    'lost: gone.signal,': 'get lost() { return gone().signal; },',
    'gone.abort(': 'gone().abort(',
  }),
  /** It copies all its options, uses no `onLeaseLost`, and has no `lost`: who has lost the key learns it by `release()`. */
  deaf: edited(
    {
      '({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {':
        '(options) => {\n  const { redis, key, ownerToken, leaseMs, retryDelayMs } = { ...options };',
      'stop(); onLeaseLost();': 'stop();',
    },
    mute,
  ),
  woken,
  /** It asks before it listens, and once more when it does; a release rings twice. */
  oddWoken: edited(
    {
      'await listen(); for (': 'let isListening = false; for (',
      'await heard(signal);': '{ if (isListening) await heard(signal); await listen(); isListening = true; }',
      "await redis.publish(key.concat(':bell'), '');":
        "for (const _ of ['one', 'two']) await redis.publish(key.concat(':bell'), '');",
    },
    woken,
  ),
  queue,
  /** The last to come is the first in its queue, which is served from its end. */
  oddQueue: edited({ "'RPUSH'": "'LPUSH'", "'LINDEX', KEYS[2], 0": "'LINDEX', KEYS[2], -1" }, queue),
  /** Its process says how often a holder holds, by whichever lock object. */
  counting: edited({
    [promised]: '{ reentry: true }',
    [set]: `redis.eval(\`if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) return redis.call('PEXPIRE', KEYS[1], ARGV[2])\`, 1, key, ownerToken, leaseMs, (counts[ownerToken] ?? 0) + 1)
      .catch(() => undefined).then((taken) => { if (taken === 1) counts[ownerToken] = (counts[ownerToken] ?? 0) + 1; return taken === 1 && 'OK'; })`,
    'until(at + leaseMs);': '',
    'mine = setInterval(renew, leaseMs / 3);': '',
    'let [end,': 'const counts = shared;\n  let [end,',
    [`if ((await ${freed}) === 0) throw`]: `const left = await redis.eval(\`if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
      local left = redis.call('HINCRBY', KEYS[1], ARGV[1], -1) if left == 0 then redis.call('DEL', KEYS[1]) end return left\`, 1, key, ownerToken);
      counts[ownerToken] = Math.max(0, (counts[ownerToken] ?? 0) - 1);
      if (left === -1) throw`,
  }),
  clocked,
  popping,
  /** All its waiters look in the same moments, which are far apart. */
  patient: edited({ [wait]: 'await sleep(500, undefined, { signal });' }),
  hasty,
  /** It gives a late try back when its client goes alone: the next try finds it. */
  oddHasty: edited(
    {
      "redis.set(key, ownerToken, 'PX', leaseMs, 'NX'), sleep": `redis.eval(\`
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') end
        redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 'OK'\`, 1, key, ownerToken, leaseMs), sleep`,
      "if (answer === 'late') giveBack();\n": '',
      [wait]: 'await sleep(retryDelayMs, undefined, { signal }).catch((gone) => { giveBack(); throw gone; });',
    },
    hasty,
  ),
  redlock,
  /** It stops its timers only when its release has been answered. Until then nothing that they find counts. */
  oddRedlock: edited(
    {
      'if (holdCount > 0) return;\n    stopWatching();': 'if (holdCount > 0) return;',
      '    if (yes >= quorum) return;\n    throw': '    stopWatching();\n    if (yes >= quorum) return;\n    throw',
      'if (holdCount === 0) return;': 'if (holdCount <= 0) return;',
      'function lose() {': 'function lose() {\n    if (holdCount <= 0) return;',
    },
    redlock,
  ),
  readWrite,
  confirmed,
  /** It rejects nothing when no replica confirms: it gives the lock back and tries again, for as long as its client waits. */
  oddConfirmed: edited(
    {
      'async function tryOnce() {': `const tryOnce = () => take().catch((error) => {
    if (error instanceof NotReplicatedError) return false;
    throw error;
  });
  async function take() {`,
    },
    confirmed,
  ),
  voting,
  /** It asks one master after the other, and waits for each. */
  oddVoting: edited(
    {
      "Promise.race([Promise.all(masters.map((master) => master.set(key, ownerToken, 'PX', leaseMs, 'NX'))), sleep(50)])": `
      masters.reduce((asked, master) => asked.then(async (votes) => [...votes, await master.set(key, ownerToken, 'PX', leaseMs, 'NX')]), Promise.resolve([]))`,
    },
    voting,
  ),
};

export type RightLock = keyof typeof rightLocks;
