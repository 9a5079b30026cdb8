import { expect, test } from 'vitest';
import { aborted, notHeld, openLab } from '../lab.ts';

const lab = openLab();

/** The bound of a tenure while another node waits. */
const HOLDERS = 512;
const TENURE_MS = 100;
const HAND_OVER = 'release-to-next-node';

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

test('cohort: while no other node waits, the bound costs one look in Redis', async () => {
  const { p, a, others, waits } = await startNode(2 * HOLDERS + 10);
  const sent = p.sent.length;

  for (const lock of [a, ...others.slice(0, -1)]) await lab.done(lock.release(), 0);

  await lab.done(Promise.all(waits), 0);
  expect(p.sent.slice(sent)).toEqual([HAND_OVER, HAND_OVER]);
});

test('cohort: the last waiter that leaves takes its node out of the queue', async () => {
  const { a } = await startNode(0);
  const q = lab.process('cohort');
  const patience = new AbortController();
  const waits = locksOf(q, 2).map((lock) => lab.follow(lock.acquire(patience.signal)));
  await lab.advance(0);
  expect(queue()).toHaveLength(1);

  patience.abort();

  for (const wait of waits) await expect(lab.done(wait, 0)).rejects.toMatchObject(aborted);
  await lab.advance(0);
  expect(queue()).toEqual([]);
  await lab.done(a.release());
  expect(lab.redis('EXISTS', 'lock')).toBe(0);
});

test('cohort: what is handed to a node that nobody is in any more is taken by the next waiter of its process', async () => {
  const { a } = await startNode(0);
  const q = lab.process('cohort');
  const patience = new AbortController();
  const left = lab.follow(q.lock().acquire(patience.signal));
  await lab.advance(0);
  const [channel = ''] = queue();
  patience.abort();
  await expect(lab.done(left)).rejects.toMatchObject(aborted);
  await lab.done(a.release());

  // The hand-over arrives late: Redis was away when the node was forgotten.
  lab.redis('HSET', 'lock', channel, 1);

  await lab.done(q.lock().acquire(), 0);
  expect(lab.redis('HKEYS', 'lock')).not.toContain(channel);
});

test('cohort: the last hold of a request passes on, whichever lock object it is', async () => {
  const p = lab.process('cohort');
  const [outer, inner] = [p.lock({ ownerToken: 'ours' }), p.lock({ ownerToken: 'ours' })];
  await lab.done(outer.acquire());
  await lab.done(inner.acquire());
  const entered = lab.follow(p.lock().acquire());

  await lab.done(outer.release());
  await lab.advance(1_000);
  expect([entered.state, inner.lost === outer.lost]).toEqual(['pending', true]);
  await lab.done(inner.release());

  await lab.done(entered, 0);
  await expect(lab.done(inner.release())).rejects.toMatchObject(notHeld);
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

test('cohort: a lock that is lost while its node asks whether to keep it is not passed on', async () => {
  const { p, a, waits } = await startNode(1);
  await lab.advance(TENURE_MS + 1);
  const kept = p.holdAnswer(HAND_OVER, 1);
  const released = lab.follow(a.release());
  await lab.advance(0);
  takeAway();
  // Its node looks, and the lock is gone.
  const [channel = ''] = lab.redis('PUBSUB', 'CHANNELS') as string[];
  lab.redis('PUBLISH', channel, 'lock');
  await lab.advance(0);
  expect(queue()).toHaveLength(1);

  kept.letGo();

  await expect(lab.done(released)).rejects.toMatchObject(notHeld);
  expect(waits[0]?.state).toBe('pending');
  giveBack();
  await lab.done(waits[0] as Promise<void>, 0);
});
