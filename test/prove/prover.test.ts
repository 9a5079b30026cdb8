import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { proveAll } from '../../prove/prover.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { lockWith, writeModule } from '../loadtest/grade/modules.ts';

test('a lock that never comes back: unknown, when its process has computed for long without a sign', async () => {
  const file = writeModule('endless.ts', lockWith({ acquire: 'for (;;) {}' }));
  const task = { stage: 'endless', file, scope: 'plain', processes: 2, sales: 1, masters: 0, budget: {} };
  const limits = { keptMs: 100, silenceMs: Number.POSITIVE_INFINITY };

  const worker = await bundledArgs('prove/worker.ts');
  const cells = await proveAll([task], { worker, signal: new AbortController().signal, onCell() {}, limits });

  expect(cells).toMatchObject([{ verdict: 'unknown', reason: expect.stringMatching(/did not come back/) }]);
});

test('a process that stands still after its first cell is ended, too', async () => {
  const answersOnce = "let cell; process.on('message', (task) => cell || process.send({ cell: (cell = task) }));";
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
