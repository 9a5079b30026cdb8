import type { Promises } from '../../loadtest/evidence/promises.ts';
import type { KnownBug, LockToGrade } from './known-bug.ts';

const correct = 'test/known-bugs/correct.ts';
const watchdog = 'locks/drivers/watchdog.ts';
const stage6 = 'locks/6-lua-release.ts';
const stage8 = 'locks/8-auto-renew.ts';
const blocking = 'locks/beyond/blocking.ts';
const fair = 'locks/beyond/fair.ts';
const cohort = 'locks/beyond/cohort.ts';
const fenced = 'locks/beyond/fenced.ts';

/** Locks with nothing wrong: none of them may fail what it promises. Each bug is compared with the one that it was put into. */
export const controls: LockToGrade[] = [
  {
    name: 'control-plain',
    lock: correct,
    changes: [],
    promises: { renewal: true },
    why: 'Nothing. It is a key with a lease, a token of its owner and a watchdog.',
  },
  {
    name: 'control-auto-renew',
    lock: stage8,
    changes: [],
    promises: { reentry: true, renewal: true },
    why: 'Nothing. It is stage 8, which is re-entrant.',
  },
  {
    name: 'control-lua-release',
    lock: stage6,
    changes: [],
    promises: {},
    why: 'Nothing. It is stage 6, which promises less.',
  },
  {
    name: 'control-blocking',
    lock: blocking,
    changes: [],
    promises: { reentry: true, renewal: true },
    why: 'Nothing. It is our `blocking`, re-entrant and with messages.',
  },
  {
    name: 'control-fair',
    lock: fair,
    changes: [],
    promises: { reentry: true, renewal: true, fairness: 'order' },
    why: 'Nothing. It is our `fair`, with one queue for all nodes.',
  },
  {
    name: 'control-cohort',
    lock: cohort,
    changes: [],
    promises: { renewal: true, fairness: 'bounded' },
    why: 'Nothing. It is our `cohort`, which a node keeps for a bounded time.',
  },
  {
    name: 'control-fenced',
    lock: fenced,
    changes: [],
    promises: { reentry: true, renewal: true, fencing: true },
    why: 'Nothing. It is our `fenced`, with a fencing token.',
  },
];

/** In the order of docs/known-bugs.md. */
export const knownBugs: KnownBug[] = [
  // The owner is not sure of what it deletes.
  {
    name: 'release-by-get-then-del',
    lock: correct,
    changes: [
      {
        find: `  const giveBack = () => redis.eval(releaseIfOwner, 1, key, ownerToken);\n`,
        replace: `  const giveBack = async () => ((await redis.get(key)) === ownerToken ? redis.del(key) : 0);\n`,
      },
    ],
    why: 'It looks whose key it is, then deletes it: the owner can change in between.',
    caughtBy: 'contract-late-release',
  },
  {
    name: 'stage-5',
    lock: 'locks/5-owner-check.ts',
    changes: [],
    promises: {},
    control: 'control-lua-release',
    why: 'Stage 5 as it is, graded as a lock that nobody knows: GET, then DEL.',
    caughtBy: 'contract-late-release',
  },
  {
    name: 'release-without-look',
    lock: correct,
    changes: [{ find: 'if ((await giveBack()) === 0)', replace: 'if ((await redis.del(key)) === 0)' }],
    why: 'It deletes the key, also that of another holder.',
    caughtBy: 'contract-late-release',
  },
  {
    name: 'token-is-process-id',
    lock: stage6,
    changes: [
      { find: 'key, ownerToken, leaseMs, retryDelayMs', replace: 'key, ownerToken: _, leaseMs, retryDelayMs' },
      {
        find: '  async function release() {\n',
        replace: '  const ownerToken = String(process.pid);\n\n  async function release() {\n',
      },
    ],
    why: 'All holders of one process have the same token, so that one releases the lock of another.',
    caughtBy: 'contract-same-node',
  },
  {
    name: 'release-says-nothing',
    lock: correct,
    changes: [{ find: 'if ((await giveBack()) === 0) throw new LockNotHeldError(key);', replace: 'await giveBack();' }],
    why: 'release() resolves when the lock was no longer held.',
    caughtBy: 'contract-not-held',
  },

  {
    name: 'release-deletes-twice',
    lock: correct,
    changes: [
      {
        find: 'if ((await giveBack()) === 0) throw new LockNotHeldError(key);',
        replace: 'if ((await giveBack()) === 0) throw new LockNotHeldError(key);\n    await redis.del(key);',
      },
    ],
    why: 'It frees its lock as it should, then deletes the key once more: by then it can be the key of another.',
    caughtBy: 'contract-late-release',
  },

  // The lock is taken in two steps.
  {
    name: 'setnx-then-pexpire',
    lock: correct,
    changes: [
      {
        find: "const asked = redis.set(key, ownerToken, 'PX', leaseMs, 'NX');",
        replace:
          "const asked = redis.setnx(key, ownerToken).then(async (set) => set === 1 && (await redis.pexpire(key, leaseMs)) === 1 && 'OK');",
      },
    ],
    why: 'A process that dies between the two commands leaves a key without an end.',
    caughtBy: 'contract-crash',
  },
  {
    name: 'set-without-nx',
    lock: correct,
    changes: [{ find: "'PX', leaseMs, 'NX')", replace: "'PX', leaseMs)" }],
    why: 'It takes the lock from its holder.',
    caughtBy: 'contract-enter',
  },
  {
    name: 'token-from-incr',
    lock: fenced,
    changes: [
      {
        find: '    fencingToken = token;\n',
        replace: "    fencingToken = String(await redis.incr(key.concat(':counter')));\n",
      },
    ],
    why: 'The fencing token comes from an INCR after the lock is taken: a later holder can be faster.',
    caughtBy: 'contract-late-acquire',
  },
  {
    name: 'token-checked-at-writes-only',
    lock: 'locks/beyond/fenced-writes.ts',
    changes: [],
    control: 'control-fenced',
    why: 'The stock checks the fencing token at the write alone: a late write passes between the read and the write of the next.',
    caughtBy: 'crossed-write',
  },

  // The watchdog.
  {
    name: 'renews-any-holder',
    lock: correct,
    changes: [
      { find: 'redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs)', replace: 'redis.pexpire(key, leaseMs)' },
    ],
    why: 'The watchdog renews the lock of any holder.',
    caughtBy: 'contract-dead-heir',
  },
  {
    name: 'looks-then-renews',
    lock: correct,
    changes: [
      {
        find: 'redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs)',
        replace: 'redis.get(key).then((owner) => (owner === ownerToken ? redis.pexpire(key, leaseMs) : 0))',
      },
    ],
    why: 'The watchdog looks who holds the lock, then renews it: the holder can change in between.',
    caughtBy: 'zombie-renewal',
  },
  {
    name: 'renews-six-times',
    lock: correct,
    changes: [
      {
        file: watchdog,
        find: '  async function renewNow() {\n',
        replace:
          '  let renewals = 0;\n\n  async function renewNow() {\n    renewals += 1;\n    if (renewals > 6) return clearInterval(ticks);\n',
      },
    ],
    why: 'The watchdog stops after six renewals.',
    caughtBy: 'contract-long-hold',
  },
  {
    name: 'renews-too-late',
    lock: correct,
    changes: [{ file: watchdog, find: 'leaseMs / 3)', replace: '1.1 * leaseMs)' }],
    why: 'The watchdog renews every 1.1 leases.',
    caughtBy: 'contract-long-hold',
  },
  {
    name: 'timer-stays',
    lock: correct,
    changes: [{ file: watchdog, find: '    clearInterval(ticks);\n', replace: '' }],
    why: 'The watchdog goes on asking Redis after the release, for ever.',
    caughtBy: 'contract-quiet',
  },
  {
    name: 'rejection-ends-process',
    lock: correct,
    changes: [{ file: watchdog, find: 'await renew().catch(() => undefined)', replace: 'await renew()' }],
    why: 'A renewal that Redis rejects is a rejection that nobody handles: it ends the process.',
    caughtBy: 'contract-failed-renewal',
  },
  {
    name: 'lost-never-aborts',
    lock: correct,
    changes: [{ find: '    lost.abort(new LockNotHeldError(key));\n', replace: '' }],
    why: '`lost` is there, and never aborts.',
    caughtBy: 'contract-lost',
  },

  // A wait that is cancelled.
  {
    name: 'ignores-signal',
    lock: correct,
    changes: [
      {
        find: 'while (!(await tryOnce(signal))) await sleep(retryDelayMs, undefined, { signal });',
        replace: 'while (!(await tryOnce())) await sleep(retryDelayMs, signal);',
      },
    ],
    why: 'acquire() ignores its signal: who gave up gets the lock once more.',
    caughtBy: 'contract-abort',
  },
  {
    name: 'abort-leaves-key',
    lock: correct,
    changes: [
      { find: '      if (signal?.aborted) giveBack().catch(ignore);\n', replace: '' },
      { find: '\nfunction ignore() {}\n', replace: '' },
    ],
    why: 'An abort while the SET is on its way leaves the key, which keeps everybody out for a lease.',
    caughtBy: 'contract-abort',
  },
  {
    name: 'gave-up-and-stays-in-queue',
    lock: fair,
    changes: [
      {
        find: '      leave();\n',
        replace: "      setInterval(() => void ask('stay').catch(ignore), leaseMs / 3).unref();\n",
      },
    ],
    why: 'A waiter that gave up stays in the queue, and goes on saying that it is alive.',
    caughtBy: 'contract-abort-many',
  },

  // Who is woken, and who is next.
  {
    name: 'lost-wake-up',
    lock: blocking,
    changes: [
      {
        file: 'locks/drivers/local-queue.ts',
        find: 'queue.stop = listen(redis, channel, notice);',
        replace: 'queue.stop = listen(redis, channel, (message) => message !== undefined && notice());',
      },
    ],
    why: 'It looks, then listens, and does not look again: a release in between is not heard.',
    caughtBy: 'contract-wake-up',
  },
  {
    name: 'wakes-everybody',
    lock: fair,
    changes: [{ find: '      else return;\n', replace: '' }],
    why: 'A release wakes every waiter of the process, of whom all but one ask in vain.',
    caughtBy: 'contract-herd',
  },
  {
    name: 'last-in-first-out',
    lock: blocking,
    changes: [
      {
        file: 'locks/drivers/local-queue.ts',
        find: '  queue.waiters.push(waiter);\n',
        replace: '  queue.waiters.unshift(waiter);\n',
      },
      {
        file: 'locks/drivers/local-queue.ts',
        find: '    let isOurs = false;\n',
        replace: '    let isOurs = false;\n    queue.hasNews = true;\n',
      },
    ],
    promises: { reentry: true, renewal: true, fairness: 'order' },
    why: 'The last one to ask is the first to get in: while others come, the first one waits for ever.',
    caughtBy: 'contract-order',
  },
  {
    name: 'fair-lets-anybody-in',
    lock: fair,
    changes: [
      {
        file: 'lua/release-to-first.lua',
        find: "redis.call('SET', KEYS[1], first, 'PX', lease_ms)\n",
        replace: "redis.call('DEL', KEYS[1])\n",
      },
      {
        find: 'if (isOurTurn && performance.now() - askedAt < leaseMs / 2) return;',
        replace: "if (isOurTurn) how = 'join';",
      },
      {
        file: 'lua/acquire-in-turn.lua',
        find: "    first = redis.call('LPOP', KEYS[2])\n    if not first or first == ARGV[1] then\n",
        replace: '    if true then\n',
      },
    ],
    why: 'A release frees the lock and only tells the first: a newcomer enters whenever the lock is free.',
    caughtBy: 'contract-order',
  },
  {
    name: 'tenure-without-end',
    lock: cohort,
    changes: [
      {
        file: 'locks/drivers/cohort-node.ts',
        find: 'if (waiters.length === 0 || here.holdersLeft === 0 || performance.now() > here.endsAt)',
        replace: 'if (waiters.length === 0)',
      },
    ],
    why: 'A node passes the lock on among its own waiters as long as there is one: another node waits for ever.',
    caughtBy: 'contract-turn',
  },
  {
    name: 'node-keeps-the-lock',
    lock: cohort,
    changes: [
      {
        file: 'lua/release-to-next-node.lua',
        find: "local channel = redis.call('LPOP', KEYS[2])\nwhile",
        replace:
          "if ARGV[3] == 'keep' then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end\nlocal channel = redis.call('LPOP', KEYS[2])\nwhile",
      },
    ],
    why: 'When its tenure ends a node begins another one, although another node waits.',
    caughtBy: 'contract-turn',
  },

  // What stays behind.
  {
    name: 'map-keeps-tokens',
    lock: correct,
    changes: [
      {
        find: '  const lost = new AbortController();\n',
        replace: '  const lost = new AbortController();\n  tokens.set(ownerToken, key);\n',
      },
      {
        find: '\nfunction ignore() {}\n',
        replace: '\nconst tokens = new Map<string, string>();\n\nfunction ignore() {}\n',
      },
    ],
    why: 'A map of the process keeps the token of each acquisition.',
    caughtBy: 'contract-heap',
  },
  {
    name: 'key-per-acquisition',
    lock: correct,
    changes: [
      {
        find: '    watchdog = startWatchdog(',
        replace: "    await redis.set(key.concat(':', ownerToken), 1);\n    watchdog = startWatchdog(",
      },
    ],
    why: 'Each acquisition leaves a key of its own.',
    caughtBy: 'contract-leftovers',
  },
  {
    name: 'other-key',
    lock: correct,
    changes: [
      { find: 'key, ownerToken, leaseMs, retryDelayMs', replace: 'key: given, ownerToken, leaseMs, retryDelayMs' },
      {
        find: '  const lost = new AbortController();\n',
        replace: "  const lost = new AbortController();\n  const key = 'mutex:'.concat(given);\n",
      },
    ],
    why: 'Its keys do not begin with the one that it is given.',
    caughtBy: 'contract-keys',
  },
  {
    name: 'key-of-its-own',
    lock: correct,
    changes: [
      { find: 'key, ownerToken, leaseMs, retryDelayMs', replace: 'ownerToken, leaseMs, retryDelayMs' },
      {
        find: '  const lost = new AbortController();\n',
        replace: "  const lost = new AbortController();\n  const key = 'lock:inventory';\n",
      },
    ],
    why: 'It has one key for everything, whatever key it is given.',
    caughtBy: 'contract-keys',
  },
  {
    name: 'retries-without-pause',
    lock: correct,
    changes: [
      { find: 'await sleep(retryDelayMs, undefined, { signal })', replace: 'await sleep(0, undefined, { signal })' },
    ],
    why: 'A waiter asks Redis again without a pause, thousands of times a second.',
    caughtBy: 'contract-commands',
  },

  // Re-entry.
  {
    name: 'inner-release-frees',
    lock: stage8,
    changes: [{ file: 'lua/release-reentrant.lua', find: 'if hold_count > 0 then', replace: 'if hold_count > 1 then' }],
    why: 'The release of an inner call frees the lock of the outer one.',
    caughtBy: 'contract-nested',
  },
  {
    name: 'token-per-object',
    lock: stage8,
    changes: [
      { find: 'key, ownerToken, leaseMs, retryDelayMs', replace: 'key, ownerToken: request, leaseMs, retryDelayMs' },
      {
        find: '  let holdCount = 0;\n',
        replace: "  let holdCount = 0;\n  const ownerToken = request.concat(':', String(Math.random()));\n",
      },
    ],
    why: 'Each lock object makes a token of its own: a function that makes another object for the same request waits for itself.',
    caughtBy: 'nested-call',
  },
];

/** The lock without the bug. */
export function controlOf({ lock, control }: LockToGrade): LockToGrade {
  const same = controls.find((each) => (control === undefined ? each.lock === lock : each.name === control));
  const [plain] = controls;
  if (plain === undefined) throw new Error('There is no control.');
  return same ?? plain;
}

/** What a lock says of itself: what it was before the bug was put into it, unless it says otherwise. */
export const promisesOf = (bug: LockToGrade): Promises => bug.promises ?? controlOf(bug).promises ?? {};
