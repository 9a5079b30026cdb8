// Locks that look right and are wrong: the check that must see it does, and a right lock that looks wrong passes it.

import { expect, test } from 'vitest';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** Renews each third of its lease, and counts the lease from the moment at which it asked. */
const right = `
import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError } from '${projectDir}locks/lock.ts';
const ifOwner = (act) => \`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call(\${act})\`;
export const promises = { renewal: true };
let timer;
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

const wrong: [what: string, check: string, from: string, to: string][] = [
  ['ends its renewals at the first error', 'redis-back', 'catch(() => undefined)', 'catch(() => clearInterval(mine))'],
  [
    'frees what is held for eight leases',
    'long-hold',
    started,
    `${started} setTimeout(() => redis.del(key), 8 * leaseMs);`,
  ],
  [
    'renews again after its release',
    'late-renewal',
    'if (isOver) return;',
    'if (isOver) return setTimeout(renew, leaseMs / 3);',
  ],
  [
    'has one timer for all keys',
    'many-keys',
    started,
    'clearInterval(timer); timer = mine = setInterval(renew, leaseMs / 3);',
  ],
  [
    'looks and then sets when it tries once',
    'one-try',
    set,
    `signal.aborted ? redis.get(key).then((held) => held === null && redis.set(key, ownerToken, 'PX', leaseMs)) : ${set}`,
  ],
  [
    'frees a lease that its own clock calls over',
    'clock',
    set,
    `redis.get(key).then(async (held) => {
      if (held && Number(held.split(' ')[1]) < Date.now()) await redis.del(key);
      ownerToken = ownerToken.split(' ')[0] + ' ' + (Date.now() + leaseMs);
      return ${set};
    })`,
  ],
];

function verdictOf(check: string, text: string) {
  const facts = { backend: 'redis', isExternal: true } as const;
  return runCheck(`contract-${check}`, { name: 'of-somebody', file: writeModule('of-somebody.ts', text), facts });
}

test.each(wrong)('a lock that %s fails contract-%s', async (_what, check, from, to) => {
  expect(right).toContain(from);
  expect(
    await verdictOf(
      check,
      right.replace(from, () => to),
    ),
  ).toMatchObject({ verdict: 'fail' });
});

// Its owner is digits, and it keeps its lock under another name: both look wrong.
test.each([...new Set(wrong.map(([, check]) => check))])(
  'a right lock that looks wrong passes contract-%s',
  async (check) => {
    const odd = right.replace(
      'const gone',
      "key += ':lock'; ownerToken = String(Math.random()).slice(2);\n  const gone",
    );
    expect(await verdictOf(check, odd)).toMatchObject({ verdict: 'pass' });
  },
);

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
