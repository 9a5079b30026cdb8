// Published libraries: a package is installed beside the lab, and is run as it is.

import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { runOrders } from '../../../loadtest/conformance/orders.ts';
import { sourcesOf } from '../../../loadtest/grade/external-locks.ts';
import { gradesIn, readPublished } from '../../../loadtest/grade/libraries.ts';
import { adaptersOf, majorsOf } from '../../../loadtest/peers/peer.ts';
import type { LockSource } from '../../../simulation/lock-service.ts';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';

const installed = join(projectDir, 'loadtest/peers');
const registry = process.env['npm_config_registry'];

afterEach(() => {
  if (registry === undefined) delete process.env['npm_config_registry'];
  else process.env['npm_config_registry'] = registry;
});

/** What becomes of a package at a registry that knows none, or at an address where there is no registry. */
async function install(text: string, isThere: boolean) {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  const server = createServer((_request, response) => response.writeHead(404).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  process.env['npm_config_registry'] = `http://127.0.0.1:${port}`;
  if (!isThere) await new Promise((resolve) => server.close(resolve));
  const [grade] = await readPublished(text, { libraries: dir, caller: dir });
  server.close();
  return grade?.problem;
}

test.each([
  ['nobody-has-written-it@1', /^npm can't reach its registry \(ECONNREFUSED\)$/],
  ['redlock@5', /^npm can't reach its registry \(ECONNREFUSED\)$/],
])('%s can not be graded, and says why', async (text, problem) => {
  expect(await install(text, false)).toMatch(problem);
});

test('no adapter is for another major version of a package', () => {
  expect(adaptersOf('redis-semaphore', '3.2.1')).toEqual([]);
  expect(adaptersOf('redlock', '4.2.0')).toEqual(['redlock-4']);
  expect(majorsOf('redlock')).toEqual([4, 5]);
});

test.each([
  ['redis-semaphore-redlock', { stage: 'redis-semaphore-redlock@5.8.0' }],
  ['nobody', { problem: expect.stringMatching(/redis-semaphore-redlock or redis-semaphore$/) }],
])('of the locks of a package %s alone: a name that fits none is told which there are', async (lock, grade) => {
  expect(await gradesIn(installed, 'redis-semaphore', lock)).toMatchObject([grade]);
});

test('a package runs unchanged: its locks are found where it is installed, and fail what is known of them', async () => {
  const grades = await gradesIn(installed, 'redis-semaphore');
  const [source] = Object.values(sourcesOf(grades)).filter(({ name }) => name.startsWith('redis-semaphore@'));

  expect(grades.map(({ stage }) => stage)).toEqual(['redis-semaphore-redlock@5.8.0', 'redis-semaphore@5.8.0']);
  const outcome = await runCheck('contract-failed-renewal', source as LockSource);
  expect(outcome).toMatchObject({ verdict: 'fail', reasons: [expect.stringMatching(/MaxRetriesPerRequestError/)] });
});

test.each([
  ['async-mutex', 'fail', /^Interleaving 1 of seed 7: . entered while . was inside\.$/],
  ['redis-semaphore', 'pass', /^40 interleavings, seed 7: one holder at a time was inside/],
])('%s: seeded orders are the same each time', async (onNpm, verdict, reason) => {
  const source = sourcesOf(await gradesIn(installed, onNpm)) as Record<string, LockSource>;
  const play = () => runOrders(Object.values(source).at(-1) as LockSource, { seconds: 600, orders: 40 });

  const first = await play();
  expect(first).toMatchObject({ verdict, reasons: [expect.stringMatching(reason)] });
  expect(await play()).toEqual(first);
});
