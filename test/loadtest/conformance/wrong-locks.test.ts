// Locks that look right and are wrong: the check that must see it does, and a right lock that looks wrong passes it.

import { expect, test } from 'vitest';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { lockWith, writeModule } from '../grade/modules.ts';

/** Renews each third of its lease, and counts the lease from the moment at which it asked. */
const right = `
import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError } from '${projectDir}locks/lock.ts';
const ifOwner = (act) => \`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call(\${act})\`;
export const promises = { renewal: true };
const shared = {};
export const createLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const gone = new AbortController();
  let [end, mine, isOver] = [undefined, undefined, false];
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
  return {
    lost: gone.signal,
    async acquire(signal) {
      let at = performance.now();
      for (; (await take(signal)) !== 'OK'; at = performance.now()) await sleep(retryDelayMs, undefined, { signal });
      until(at + leaseMs);
      mine = setInterval(renew, leaseMs / 3);
    },
    async release() {
      stop();
      if ((await redis.eval(ifOwner("'DEL', KEYS[1]"), 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);
    },
  };
};
`;
const set = "redis.set(key, ownerToken, 'PX', leaseMs, 'NX')";
const started = 'mine = setInterval(renew, leaseMs / 3);';

const freeScript = `ifOwner("'DEL', KEYS[1]")`;
const renewScript = `ifOwner("'PEXPIRE', KEYS[1], ARGV[2]")`;
const free = `await redis.eval(${freeScript}, 1, key, ownerToken)`;
const released = `if ((${free}) === 0) throw new LockNotHeldError(key);`;
const asks = 'let at = performance.now();';
/** A script that the server is given once, and then called by its name. */
const byName = (script: string) =>
  `(async (script, ...args) => redis.evalsha(await (shared[script] ??= redis.script('LOAD', script)), ...args))(${script}`;

const wrong: [what: string, check: string, edits: Record<string, string>][] = [
  [
    'ends its renewals at the first error',
    'redis-back',
    { 'catch(() => undefined)': 'catch(() => clearInterval(mine))' },
  ],
  ['takes an error for a loss', 'redis-back', { 'catch(() => undefined)': 'catch(() => 0)' }],
  [
    'frees what is held for eight leases',
    'long-hold',
    { [started]: `${started} setTimeout(() => redis.del(key), 8 * leaseMs);` },
  ],
  [
    'renews again after its release',
    'late-renewal',
    { 'if (isOver) return;': 'if (isOver) return setTimeout(renew, leaseMs / 3);' },
  ],
  ['says after its release that it is lost', 'late-renewal', { 'if (isOver) return;': '' }],
  [
    'has one timer for all keys',
    'many-keys',
    { [started]: 'clearInterval(shared.timer); shared.timer = mine = setInterval(renew, leaseMs / 3);' },
  ],
  [
    'looks and then sets when it tries once',
    'one-try',
    {
      [set]: `signal.aborted ? redis.get(key).then((held) => held === null && redis.set(key, ownerToken, 'PX', leaseMs)) : ${set}`,
    },
  ],
  [
    'frees a lease that its own clock calls over',
    'clock',
    {
      [set]: `redis.get(key).then(async (held) => {
      if (held && Number(held.split(' ')[1]) < Date.now()) await redis.del(key);
      ownerToken = ownerToken.split(' ')[0] + ' ' + (Date.now() + leaseMs);
      return ${set};
    })`,
    },
  ],
  ['deletes the key of anybody', 'late-release', { [free]: 'await redis.del(key)' }],
  [
    'leaves its key when it is aborted',
    'abort',
    {
      [`=> ${set}`]: `=> new Promise((resolve, reject) => (signal.addEventListener('abort', () => reject(signal.reason)), ${set}.then(resolve, reject)))`,
    },
  ],
  ['adds each hold to a list', 'leftovers', { [released]: `await redis.rpush(key + ':log', '1'); ${released}` }],
  ['waits for a key of its own', 'lost-reply', { [set]: `${set}.catch(() => sleep(250).then(() => ${set}))` }],
  ['counts an error as held', 'lost-reply', { [set]: `${set}.catch(() => 'OK')` }],
  ['releases nothing when it was not told that it holds', 'lost-reply', { [released]: `if (mine) ${released}` }],
  [
    'renews nothing any more when a release has failed',
    'failed-release',
    {
      [started]: `if (!shared.isReleasing) ${started}`,
      [released]: `shared.isReleasing = true; ${released} shared.isReleasing = false;`,
    },
  ],
  [
    'keeps a mutex of its process when a release has failed',
    'failed-release',
    {
      [asks]: `while (shared.isHeld) await sleep(retryDelayMs, undefined, { signal }); shared.isHeld = true; ${asks}`,
      [released]: `${released} shared.isHeld = false;`,
    },
  ],
  ['never ends a release that has failed', 'failed-release', { [free]: `${free}.catch(() => new Promise(() => {}))` }],
  [
    'can release only by a script that the server knows',
    'script-flush',
    { [`redis.eval(${freeScript}`]: byName(freeScript) },
  ],
  [
    'can renew only by a script that the server knows',
    'script-flush',
    { [`redis.eval(${renewScript}`]: byName(renewScript) },
  ],
  ['counts its lease from the reply', 'belief', { 'until(at + leaseMs)': 'until(performance.now() + leaseMs)' }],
  ['counts its lease from its first try', 'belief', { '; at = performance.now()) await': ';) await' }],
  ['rounds its lease to seconds', 'belief', { "'PX', leaseMs, 'NX'": "'EX', Math.ceil(leaseMs / 1000), 'NX'" }],
];

function verdictOf(check: string, text: string) {
  const facts = { backend: 'redis', isExternal: true } as const;
  const file = writeModule('of-somebody.ts', text);
  return runCheck(`contract-${check}`, { name: 'of-somebody', file, facts, hasOurClient: true });
}

test.each(wrong)('a lock that %s fails contract-%s', async (_what, check, edits) => {
  let text = right;
  for (const [from, to] of Object.entries(edits)) {
    expect(text).toContain(from);
    text = text.replace(from, () => to);
  }
  expect(await verdictOf(check, text)).toMatchObject({ verdict: 'fail' });
});

// Its owner is digits, it keeps its lock under another name, and it asks again after an error: all three look wrong.
const odd = right
  .replace('const gone', "key += ':lock'; ownerToken = String(Math.random()).slice(2);\n  const gone")
  .replace(
    set,
    () =>
      `${set}.catch(async () => sleep(250).then(async () => ((await redis.get(key)) === ownerToken ? 'OK' : ${set})))`,
  );
test.each([...new Set(wrong.map(([, check]) => check))])(
  'a right lock that looks wrong passes contract-%s',
  async (check) => {
    expect(await verdictOf(check, odd)).toMatchObject({ verdict: 'pass' });
  },
);

test.each([
  ['once more', "'HINCRBY', KEYS[1], ARGV[1], 1", 'fail'],
  ['as often as the holder says', "'HSET', KEYS[1], ARGV[1], ARGV[3]", 'pass'],
])('a holder that counts an acquire() whose reply was lost %s', async (_what, count, verdict) => {
  const script = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
    redis.call(${count}) return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
  const release = `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
    local left = redis.call('HINCRBY', KEYS[1], ARGV[1], -1) if left == 0 then redis.call('DEL', KEYS[1]) end return left`;
  const take = `redis.eval(${JSON.stringify(script)}, 1, key, ownerToken, leaseMs, holds + 1)`;
  const text = lockWith({
    acquire: `const take = () => ${take}; while ((await take().catch(() => sleep(250).then(take))) !== 1) await sleep(retryDelayMs, undefined, { signal }); holds += 1;`,
    release: `if ((await redis.eval(${JSON.stringify(release)}, 1, key, ownerToken)) === -1) throw new LockNotHeldError(key); holds -= 1;`,
  });
  const counting = text
    .replace('=> ({', '=> { let holds = 0; return {')
    .replace(/\}\);\s*$/, '}; };\nexport const promises = { reentry: true };\n');
  expect(await verdictOf('lost-reply', counting)).toMatchObject({ verdict });
});

test.each([
  ['fail when they stay', '', 'fail'],
  ['pass when they are given back', 'await giveBack();', 'pass'],
])('votes that nobody waits for %s', async (_what, afterwards, verdict) => {
  const text = lockWith({
    acquire: `
      const asked = Promise.all(masters.map((master) => master.set(key, ownerToken, 'PX', leaseMs, 'NX')));
      const votes = await Promise.race([asked, sleep(50)]);
      if (votes?.every((vote) => vote === 'OK')) return;
      ${afterwards}
      throw new Error('There is no majority.');`,
    release: 'if (!(await giveBack()).every((one) => one === 1)) throw new LockNotHeldError(key);',
  })
    .replace(
      '({ redis, key, ownerToken, leaseMs, retryDelayMs }) => ({',
      '({ masters, key, ownerToken, leaseMs }) => { const giveBack = () => Promise.all(masters.map((master) => master.eval(releaseIfOwner, 1, key, ownerToken))); return {',
    )
    .replace(/\}\);\s*$/, '}; };\nexport const promises = { masters: true };\n');
  expect(await verdictOf('lost-reply', text)).toMatchObject({ verdict });
});

test.each([
  ['that end by themselves fail', "redis.call('PEXPIRE', KEYS[2], 10 * ARGV[2])", 'fail'],
  ['that stay pass', '', 'pass'],
])('fencing tokens %s contract-tokens', async (_what, ending, verdict) => {
  const script = `if not redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 0 end
    local token = redis.call('INCR', KEYS[2]) ${ending} return token`;
  const take = `redis.eval(${JSON.stringify(script)}, 2, key, key + ':tokens', ownerToken, leaseMs)`;
  const fenced = right
    .replace(set, () => `${take}.then((token) => { lock.fencingToken = String(token); return token && 'OK'; })`)
    .replace('return {\n    lost', 'const lock = {\n    lost')
    .replace('    },\n  };\n};', '    },\n  };\n  return lock;\n};');
  expect(await verdictOf('tokens', fenced)).toMatchObject({ verdict });
});
