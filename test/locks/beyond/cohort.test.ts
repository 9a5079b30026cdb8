import { expect, test } from 'vitest';
import { aborted, NO_ANSWER, notHeld, once, openLab } from '../lab.ts';

const lab = openLab();

/** The bound of a tenure while another node waits. */
const HOLDERS = 512;
const TENURE_MS = 100;
const HAND_OVER = 'release-to-next-node';
const TRY = 'acquire-or-queue';

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

test('cohort: a release wakes the next waiter and no other, before it returns', async () => {
  const { a, waits } = await startNode(2);
  const order: string[] = [];
  for (const [index, wait] of waits.entries()) wait.then(() => order.push(`${index} enters`));

  await lab.done(a.release().then(() => order.push('a has released')));
  await lab.advance(0);

  expect(order.toSorted()).toEqual(['0 enters', 'a has released']);
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

test.each([2, 3])(
  `cohort: while %i nodes compete, each tenure ends after ${TENURE_MS} ms, and no update is lost`,
  async (count) => {
    const HOLD_MS = 9;
    const entries: { node: number; at: number }[] = [];
    let updates = 0;
    const nodes = lab.processes('cohort', count);
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

    expect(updates).toBe(40 * count);
    const starts = entries.filter(({ node }, at) => node !== entries[at - 1]?.node);
    const lengths = starts.slice(1).map(({ at }, index) => at - (starts[index]?.at ?? 0));
    // The holder that is inside when the time is over ends its hold. At the end a node may be out of waiters.
    expect(lengths.slice(0, 2)).toEqual([108, 108]);
    expect(Math.max(...lengths)).toBe(108);
  },
);

test('cohort: while no other node waits, the bound costs one look in Redis', async () => {
  const { p, a, others, waits } = await startNode(2 * HOLDERS + 10);
  const sent = p.sent.length;

  for (const lock of [a, ...others.slice(0, -1)]) await lab.done(lock.release(), 0);

  await lab.done(Promise.all(waits), 0);
  expect(p.sent.slice(sent)).toEqual([HAND_OVER, HAND_OVER]);
});

test('cohort: a killed holder costs what is left of its lease', async () => {
  const p = lab.process('cohort');
  await lab.done(p.lock({ leaseMs: 900 }).acquire());
  const { entered } = await startElsewhere();
  await lab.advance(200);

  p.kill();
  await lab.done(entered);

  expect(lab.now()).toBe(901);
});

test('cohort: a release between the failed try and the subscription is not missed', async () => {
  const { a } = await startNode(0);
  const q = lab.process('cohort');
  const subscription = q.hold('subscribe');
  const entered = lab.follow(q.lock().acquire());
  await lab.advance(100);
  await lab.done(a.release()); // Nobody listens yet.

  subscription.letGo();

  await lab.done(entered, 0);
});

test('cohort: a node that hears nothing any more is passed over', async () => {
  const { a } = await startNode(0);
  const gone = await startElsewhere();
  gone.p.kill();
  const { entered } = await startElsewhere();
  expect(queue()).toHaveLength(2);

  await lab.done(a.release());

  await lab.done(entered, 0);
});

test('cohort: a node that hears that it has the lock, and stands still, costs one lease', async () => {
  const p = lab.process('cohort');
  const a = p.lock({ leaseMs: 900 });
  await lab.done(a.acquire());
  const still = await startElsewhere();
  still.p.freeze();
  const { entered } = await startElsewhere();
  await lab.advance(100);

  await lab.done(a.release());
  await lab.done(entered);

  // It asks when the lease of A would have ended, and learns then how long that of the other node lasts.
  expect(lab.now()).toBe(100 + 900 + 1);
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

test('cohort: the first waiter may leave, and the next one of its node is woken', async () => {
  const { a } = await startNode(0);
  const q = lab.process('cohort');
  const patience = new AbortController();
  const left = lab.follow(q.lock().acquire(patience.signal));
  const entered = lab.follow(q.lock().acquire());
  await lab.advance(0);

  patience.abort();
  await expect(lab.done(left)).rejects.toMatchObject(aborted);
  await lab.done(a.release());

  await lab.done(entered, 0);
});

test('cohort: a lock that is handed to a node whose waiters have just left is given back', async () => {
  const { a } = await startNode(0);
  const q = lab.process('cohort');
  const patience = new AbortController();
  const entered = lab.follow(q.lock().acquire(patience.signal));
  await lab.advance(0);
  q.freeze();
  await lab.done(a.release());
  expect(lab.redis('EXISTS', 'lock')).toBe(1);

  // It has not heard of the hand-over yet.
  q.inbox.splice(0);
  q.thaw();
  patience.abort();

  await expect(lab.done(entered)).rejects.toMatchObject(aborted);
  await lab.advance(0);
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

test('cohort: a holder that stayed longer than the bound passes nothing on that it has lost', async () => {
  const { a, waits } = await startNode(1);
  await lab.advance(TENURE_MS + 1);
  takeAway();

  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);

  await lab.advance(1_000);
  expect(waits[0]?.state).toBe('pending');
  giveBack();
  await lab.done(waits[0] as Promise<void>, 0);
});

test('cohort: a release that Redis does not answer can be tried again, with waiters behind it', async () => {
  const { p, a, waits } = await startNode(1);
  await lab.advance(TENURE_MS + 1);
  p.fail(HAND_OVER, 1);

  await expect(lab.done(a.release())).rejects.toThrow(NO_ANSWER);
  await lab.advance(0);
  await lab.done(a.release());

  await lab.done(waits[0] as Promise<void>, 0);
  await expect(lab.done(a.release())).rejects.toMatchObject(notHeld);
});

test('cohort: an abort at any step after the answer leaves a waiter that is inside, and then nothing', async () => {
  const p = lab.process('cohort');
  for (let steps = 0; steps < 20; steps += 1) {
    const patience = new AbortController();
    const lock = p.lock();
    const answer = p.holdAnswer(TRY, 1);
    const entered = lab.follow(lock.acquire(patience.signal));
    await lab.advance(0);

    answer.letGo();
    for (let step = 0; step < steps; step += 1) await undefined;
    patience.abort();

    await lab.done(entered, 0);
    await lab.done(lock.release());
    expect(lab.redis('EXISTS', 'lock')).toBe(0);
  }
});

test('cohort: who asks again as soon as it is refused is heard', async () => {
  const p = lab.process('cohort');
  const lock = p.lock();
  p.fail(TRY, 1);

  await lab.done(lock.acquire().catch(() => lock.acquire()));
});

test('cohort: the lease of a tenure lasts as long as it was asked for, also when another holder passes it on', async () => {
  const p = lab.process('cohort');
  const [a, b, c] = [p.lock(), p.lock({ leaseMs: 3_000 }), p.lock()];
  await lab.done(a.acquire());
  const waits = [b, c].map((lock) => lab.follow(lock.acquire()));
  await lab.advance(0);
  await lab.done(a.release());
  await lab.advance(TENURE_MS + 1);

  await lab.done(b.release());
  await lab.done(Promise.all(waits), 0);

  expect(lab.redis('PTTL', 'lock')).toBe(30_000);
});

test('cohort: an acquisition that Redis does not answer can be given back', async () => {
  const { p, a } = await startNode(0);
  p.fail(HAND_OVER, 1);
  await expect(lab.done(a.release())).rejects.toThrow(NO_ANSWER);

  // The lock is still that of A in Redis, although this node has given it up.
  const b = p.lock();
  await expect(lab.done(b.acquire(once))).rejects.toMatchObject(aborted);
  await lab.done(a.release());

  await lab.done(b.acquire(once), 0);
});

test('cohort: a node whose waiters were refused swallows no lock that is handed to it', async () => {
  const { a } = await startNode(0);
  const { p, entered } = await startElsewhere();
  p.fail(TRY, 1);

  lab.redis('PUBLISH', queue()[0] ?? '', 'lock');
  await expect(lab.done(entered)).rejects.toThrow(NO_ANSWER);
  await lab.done(a.release());

  await lab.advance(0);
  expect(lab.redis('EXISTS', 'lock', 'lock:queue')).toBe(0);
});

test('cohort: when Redis does not answer, all waiters are refused, with the holder in their node or not', async () => {
  const [p, q] = lab.processes('cohort', 2);
  await lab.done(p.lock({ leaseMs: 900, onLeaseLost() {} }).acquire());
  const waits = [p, q].flatMap((each) => locksOf(each, 20).map((lock) => lab.follow(lock.acquire())));
  await lab.advance(1);
  for (const each of [p, q]) each.fail();

  // The watchdog of one node asks, and the other node when the lease is over.
  await lab.advance(900);

  for (const wait of waits) await expect(lab.done(wait, 0)).rejects.toThrow(NO_ANSWER);
});
