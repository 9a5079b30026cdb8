import { afterEach, expect, test, vi } from 'vitest';
import { createMetrics } from '../../../../services/inventory/sale/metrics.ts';
import { createReleases } from '../../../../services/inventory/sale/sale-release.ts';

/** A sleep is over at once, and the clock has moved. */
vi.mock('node:timers/promises', () => ({ setTimeout: async (ms: number) => void vi.advanceTimersByTime(ms) }));

afterEach(() => void vi.useRealTimers());

const LEASE_MS = 1_000;
const silence = new Error('Socket timeout. Expecting data, but did not receive any in 1000ms.');
const refused = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
const noReplicas = refused('NOREPLICAS Not enough good replicas to write.');
const noPermission = refused("NOPERM User default has no permissions to run the 'del' command");
const refuses = /^Redis refuses to release a lock, retrying: NOREPLICAS Not enough/;

/** Releases of a node, and what becomes of them. Each answer of a server takes 400 ms. */
function startReleases(hasLease = true) {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [warn, info, metrics] = [vi.fn(), vi.fn(), createMetrics()];
  const parts = { registry: { hasLease: () => hasLease }, store: { back: async () => {} }, metrics };
  const releases = createReleases({ ...parts, log: { warn, info } });
  async function reject(why: unknown) {
    vi.advanceTimersByTime(400);
    throw why;
  }
  return {
    releases,
    reject,
    followed: (lock: { acquire?: () => Promise<void>; release: () => Promise<void> }) =>
      releases.followed({ acquire: async () => {}, ...lock }, 'a-lock', LEASE_MS),
    retries: async () => /^lockstep_release_retries_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1],
    lines: () => [...warn.mock.calls, ...info.mock.calls].map(([, line]) => line),
  };
}

test('releases: one that is answered by nothing is tried for a lease, counted each time, and ends with a line in the log', async () => {
  const node = startReleases();
  const release = vi.fn(() => node.reject(silence));

  await expect(node.followed({ acquire: () => node.reject(silence), release }).acquire()).rejects.toBe(silence);
  expect(node.releases.count()).toBe(1);
  await node.releases.ended();

  expect([release.mock.calls.length, await node.retries(), node.releases.count()]).toEqual([3, '2', 0]);
  expect(node.lines()).toEqual(['a lock was not released: no server replied for the length of a lease']);
});

test.each([
  ['NOREPLICAS', noReplicas],
  ['NOPERM, which an administrator may mend', noPermission],
])(
  'releases: one that is refused is tried for a lease, and two lines of the log say why: %s',
  async (_why, refusal) => {
    const node = startReleases();
    const release = vi.fn(() => node.reject(refusal));

    await expect(node.followed({ release }).release()).rejects.toBe(refusal);
    await node.releases.ended();

    expect([release.mock.calls.length, await node.retries()]).toEqual([4, '3']);
    expect(node.lines()).toEqual([
      `Redis refuses to release a lock, retrying: ${refusal.message}`,
      `a lock was not released: Redis refused ("${refusal.message}") for the length of a lease`,
    ]);
  },
);

test('releases: where there is no lease one is tried until it is answered, and the log says when it begins and ends', async () => {
  const node = startReleases(false);
  const release = vi.fn(async () => {
    if (performance.now() < 100 * LEASE_MS) await node.reject(noReplicas);
  });
  const two = [node.followed({ release }), node.followed({ release })];

  for (const lock of two) await expect(lock.release()).rejects.toBe(noReplicas);
  await node.releases.ended();

  expect(node.lines()).toEqual([expect.stringMatching(refuses), 'Redis releases locks again']);
});

test.each([
  ['was refused, has taken nothing', noReplicas, 0],
  ['says why it could not give back what it took, may have', new Error('Not replicated.', { cause: noReplicas }), 1],
])('releases: an acquire that %s', async (_what, error, released) => {
  const node = startReleases();
  const release = vi.fn(async () => {});

  await expect(node.followed({ acquire: () => node.reject(error), release }).acquire()).rejects.toBe(error);
  await node.releases.ended();

  expect(release).toHaveBeenCalledTimes(released);
});
