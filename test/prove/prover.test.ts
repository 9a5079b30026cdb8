import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import type { Cell } from '../../prove/cell.ts';
import { proveAll } from '../../prove/prover.ts';
import { bundledArgs } from '../../stack/bundle.ts';
import { lockWith, noModule, writeModule } from '../loadtest/grade/modules.ts';

test('a lock that never comes back: unknown, when its process has computed for long without a sign', async () => {
  const file = writeModule('endless.ts', lockWith({ acquire: 'for (;;) {}' }));
  const task = { stage: 'endless', file, scope: 'plain', processes: 2, sales: 1, masters: 0, budget: {} };
  const limits = { keptMs: 100, silenceMs: Number.POSITIVE_INFINITY };

  const worker = await bundledArgs('prove/worker.ts');
  const cells = await proveAll([task], { worker, signal: new AbortController().signal, onCell() {}, limits });

  expect(cells).toMatchObject([{ verdict: 'unknown', reason: expect.stringMatching(/did not come back/) }]);
});

test('a process that stands still after its first cell is ended, too', async () => {
  const answersOnce = "let cell; process.on('message', (task) => cell || process.send({ cells: [(cell = task)] }));";
  const worker = writeModule('once.mjs', answersOnce);
  const task = { stage: 'one', file: worker, scope: 'plain', processes: 2, sales: 1, masters: 0, budget: {} };
  const tasks = Array.from({ length: availableParallelism() + 1 }, () => task);
  const limits = { keptMs: Number.POSITIVE_INFINITY, silenceMs: 0 };

  const cells = await proveAll(tasks, {
    worker: [worker],
    signal: new AbortController().signal,
    onCell() {},
    limits,
  });

  expect(cells.at(-1)).toMatchObject({ verdict: 'unknown', reason: expect.stringMatching(/did not come back/) });
});

test('a process that has just ended answers no more: the next cell is looked at by another', async () => {
  const gone = noModule('gone');
  const endsAtOnce = `import { writeFileSync } from 'node:fs';
    process.on('disconnect', () => writeFileSync('${gone}-' + process.pid, ''));
    process.once('message', (task) => process.send({ cells: [{ ...task, ms: process.pid }] }, () => process.disconnect()));`;
  const worker = [writeModule('ends-at-once.mjs', endsAtOnce)];
  const tasks = Array.from({ length: availableParallelism() + 1 }, (_, at) => ({
    ...{ stage: `lock ${at}`, file: 'lock.ts', scope: 'plain', processes: 2, sales: 1, masters: 0, budget: {} },
  }));
  const { signal } = new AbortController();
  // Nothing else happens here until it is gone.
  const onCell = ({ ms }: Cell) => {
    while (ms > 0 && !existsSync(`${gone}-${ms}`));
  };

  const cells = await proveAll(tasks, { worker, signal, onCell });

  expect(cells).toMatchObject(tasks);
});
