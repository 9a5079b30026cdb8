// Cells in which the same can happen are searched together, and each comes out as if it were alone.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { proveCell, proveCells, type Task } from '../../prove/cell.ts';
import { createKnownStates } from '../../prove/known-states.ts';
import { inOrder, proveAll } from '../../prove/prover.ts';
import type { State } from '../../prove/state.ts';
import { noModule, writeModule } from '../loadtest/grade/modules.ts';
import { fileOf, lasting, movesUnder, sharedServer, task, writeLock } from './own-locks.ts';

const forgets = writeLock(
  `return {
    async acquire() { if ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') process.exit(); },
    async release() { await redis.del(key); },
  };`,
);

test.each([
  ['both fail, one before the other', 'fails fails', '4-ttl', 'slow-holder', 'paused-process', {}],
  ['one fails, and the other goes on', 'fails holds', 'fenced-writes', 'paused-process', 'slow-holder', {}],
  ['one goes on, and the other fails', 'holds fails', '5-owner-check', 'slow-holder', 'paused-process', {}],
  ['both hold, with faults', 'holds holds', '3-spin', 'slow-holder', 'paused-process', {}],
  ['both hold', 'holds holds', '7-reentrant', 'plain', 'lost-wakeup', { processes: 3 }],
  ['both hold, and the waiters listen', 'holds holds', 'blocking', 'lost-wakeup', 'plain', {}],
  [
    'neither is known, for too many states',
    'unknown unknown',
    'fair',
    'slow-holder',
    'paused-process',
    { mostStates: 2_000 },
  ],
  [
    'one fails before there are too many states',
    'unknown fails',
    'fenced-writes',
    'slow-holder',
    'paused-process',
    { mostStates: 2_000 },
  ],
  ['neither is known, for what it uses', 'unknown unknown', 'own', 'plain', 'lost-wakeup', { file: forgets }],
])('%s: %s under %s, %s and %s', async (_what, verdicts, stage, one, other, more: Partial<Task>) => {
  const named = { file: more.file ?? fileOf(stage), ...more };
  const alone = [await proveCell(task(stage, one, named)), await proveCell(task(stage, other, named))];

  const together = await proveCells({ ...task(stage, one, named), sharedWith: [other] });

  expect(together.map(lasting)).toEqual(alone.map(lasting));
  expect(together.map(({ verdict }) => verdict).join(' ')).toBe(verdicts);
});

test('cells of which only the demands differ are one task for a worker, and come out in the order in which they were planned', async () => {
  const log = noModule('asked');
  const worker = writeModule(
    'asked.mjs',
    `import { appendFileSync } from 'node:fs';
    process.on('message', (task) => {
      const scopes = [task.scope, ...task.sharedWith];
      appendFileSync('${log}', [task.processes, ...scopes].join(' ') + '\\n');
      process.send({ cells: scopes.map((scope) => ({ ...task, scope })) });
    });`,
  );
  writeFileSync(log, '');
  const planned = ['slow-holder', 'late-write', 'paused-process'].map((scope) => task('4-ttl', scope));
  const large = ['slow-holder', 'zombie-renewal'].map((scope) => task('4-ttl', scope, { processes: 3 }));
  const all = [...planned, ...large];

  const { signal } = new AbortController();
  const cells = await proveAll(all, { worker: [worker], signal, onCell() {} });

  expect(cells.map(({ scope, processes }) => [scope, processes])).toEqual(
    all.map(({ scope, processes }) => [scope, processes]),
  );
  const asked = readFileSync(log, 'utf8').trim().split('\n');
  expect(asked.toSorted()).toEqual([
    '2 late-write',
    '2 slow-holder paused-process',
    '3 slow-holder',
    '3 zombie-renewal',
  ]);
});

test('cells of many processes come first, unless they wait for the same cell of fewer', () => {
  const planned = [
    task('4-ttl', 'plain'),
    task('8-auto-renew', 'zombie-renewal'),
    task('4-ttl', 'plain', { processes: 3 }),
    task('8-auto-renew', 'plain', { processes: 3 }),
  ];

  expect(inOrder(planned).map(([index]) => index)).toEqual([1, 3, 0, 2]);
});

test('a state has the number that it had, however many there are, and times need not be whole', async () => {
  const { begin } = await movesUnder(fileOf('4-ttl'), 'plain');
  const first = begin();
  const known = createKnownStates(first, await sharedServer());
  const states: State[] = Array.from({ length: 3_000 }, (_, number) => ({ ...first, at: number / 8 }));
  states.push({ ...first, freeSince: Number.POSITIVE_INFINITY }, { ...first, crashedAt: 0 });

  expect(states.map((state) => known.numberOf(state))).toEqual(states.map(() => -1));
  expect(states.map(known.add)).toEqual(states.map((_, number) => number));
  expect(states.map(known.add)).toEqual(states.map((_, number) => number));
  expect(known.size()).toBe(states.length);
  expect(states.map((state) => known.numberOf({ ...state }))).toEqual(states.map((_, number) => number));
});
