import { expect, test } from 'vitest';
import { notHeld, openLab } from '../lab.ts';

const lab = openLab();

/** The bound of a tenure while another node waits. */
const HOLDERS = 512;
const TENURE_MS = 100;

type Process = ReturnType<typeof lab.process>;
type Lock = ReturnType<Process['lock']>;

const queue = () => lab.redis('LRANGE', 'lock:queue', 0, -1) as string[];
const locksOf = (p: Process, count: number) => Array.from({ length: count }, () => p.lock());

/** A process whose first lock holds, and whose others wait. */
async function startNode(waiters: number) {
  const p = lab.process('cohort');
  const [a, ...others] = locksOf(p, waiters + 1) as [Lock, ...Lock[]];
  await lab.done(a.acquire());
  const waits = others.map((lock) => lab.follow(lock.acquire()));
  await lab.advance(0);
  return { p, a, others, waits };
}

/** A waiter in a process of its own, which is in the queue. */
async function startElsewhere() {
  const p = lab.process('cohort');
  const lock = p.lock();
  const entered = lab.follow(lock.acquire());
  await lab.advance(0);
  return { p, lock, entered };
}

/** Somebody else has the lock, and nobody has told us. */
function takeAway() {
  lab.redis('DEL', 'lock');
  lab.redis('HSET', 'lock', 'theirs', 1);
  lab.redis('PEXPIRE', 'lock', 30_000);
}

/** Somebody else frees the lock, and tells the first node that waits. */
function giveBack() {
  lab.redis('DEL', 'lock');
  lab.redis('PUBLISH', queue()[0] ?? '', 'lock');
}

test('cohort: the waiters of a node enter in the order of asking, and passing on sends nothing', async () => {
  const { p, a, others } = await startNode(0);
  const order: number[] = [];
  others.push(...locksOf(p, 20));
  const entered = others.map((lock, index) => lock.acquire().then(() => order.push(index)));
  await lab.advance(0);
  const sent = p.sent.length;
  await lab.done(a.release());

  for (const [index, lock] of others.slice(0, -1).entries()) {
    await lab.done(entered[index] as Promise<number>, 0);
    await lab.done(lock.release(), 0);
  }

  await lab.done(Promise.all(entered), 0);
  expect(order).toEqual(others.map((_, index) => index));
  expect(p.sent).toHaveLength(sent);
});

test(`cohort: while another node waits, a tenure ends after ${HOLDERS} holders`, async () => {
  const { a, others } = await startNode(HOLDERS + 10);
  const elsewhere = await startElsewhere();
  await lab.done(a.release());

  let holders = 1;
  for (; elsewhere.entered.state === 'pending'; holders += 1) {
    await lab.done(others[holders - 1]?.release() as Promise<void>, 0);
    await lab.advance(0);
  }

  expect(holders).toBe(HOLDERS);
});

test(`cohort: while three nodes compete, each tenure ends after ${TENURE_MS} ms, and no update is lost`, async () => {
  const HOLD_MS = 9;
  const entries: { node: number; at: number }[] = [];
  let updates = 0;
  const nodes = lab.processes('cohort', 3);
  const sales = nodes.flatMap((p, node) =>
    locksOf(p, 40).map(async (lock) => {
      await lock.acquire();
      entries.push({ node, at: lab.now() });
      const read = updates;
      await p.world.sleep(HOLD_MS);
      updates = read + 1;
      await lock.release();
    }),
  );

  await lab.done(Promise.all(sales));

  expect(updates).toBe(3 * 40);
  const starts = entries.filter(({ node }, at) => node !== entries[at - 1]?.node);
  const lengths = starts.slice(1).map(({ at }, index) => at - (starts[index]?.at ?? 0));
  // The holder that is inside when the time is over ends its hold. At the end a node may be out of waiters.
  expect(lengths.slice(0, 2)).toEqual([108, 108]);
  expect(Math.max(...lengths)).toBe(108);
});

test('cohort: a lost lease stops the hand-over, and the waiters ask Redis again', async () => {
  const p = lab.process('cohort');
  const losses: string[] = [];
  const [a, b] = ['a', 'b'].map((name) => p.lock({ leaseMs: 900, onLeaseLost: () => losses.push(name) })) as [
    Lock,
    Lock,
  ];
  await lab.done(a.acquire());
  const entered = lab.follow(b.acquire());
  await lab.advance(1);

  takeAway();
  await lab.advance(900);
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);

  expect([losses, entered.state, b.lost?.aborted]).toEqual([['a'], 'pending', false]);
  expect(a.lost?.reason).toMatchObject(notHeld);
  giveBack();
  await lab.done(entered, 0);
});
