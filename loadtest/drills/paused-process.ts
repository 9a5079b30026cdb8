import { sharedClock } from '../scene.ts';
import { type Judgement, notStaged, readStock, type StepDrill } from '../step-drill.ts';

const OTHER_SALES = 3;

// The whole process stops between read and write, as in a long garbage collection, and wakes up with a stale write.
export const pausedProcess: StepDrill = {
  name: 'paused-process',
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    const process = scene.processOf(first);
    const paused = await scene.sellInside(first, { pauseMs: leaseMs });
    process.signal('SIGSTOP');
    const pausedAt = performance.now();
    await scene.say(
      `Sale ${paused.saleId} on ${first.name} has read the stock; now the whole process is stopped (SIGSTOP).`,
    );

    let sold = 0;
    const limitMs = 2.5 * leaseMs;
    while (sold < OTHER_SALES && performance.now() - pausedAt < limitMs) {
      const sale = scene.sell(second);
      const timer = setTimeout(sale.hangUp, limitMs - (performance.now() - pausedAt));
      if ((await sale.end).outcome === 'sold') sold += 1;
      clearTimeout(timer);
    }
    await scene.say(`${second.name} has sold ${sold} units meanwhile.`);
    await scene.waitFor(async () => performance.now() - pausedAt > limitMs || undefined, limitMs);
    const resumedAt = sharedClock();
    process.signal('SIGCONT');
    await scene.say(`${first.name} goes on (SIGCONT), and its write is due.`);

    const outcome = await scene.outcome();
    const written = outcome.events.find(
      ({ type, node, saleId }) => type === 'wrote' && node === first.name && saleId === paused.saleId,
    );
    if (written === undefined || written.at < resumedAt) return notStaged('The write did not fall into the pause.');
    const { lostUpdates, witnesses, ...stock } = readStock(outcome);
    const figures = {
      lostUpdates,
      soldMeanwhile: sold,
      finalStock: stock.finalStock,
      expectedStock: stock.expectedStock,
    };
    if (lostUpdates > 0) {
      const reason = `The stock is ${stock.finalStock} instead of ${stock.expectedStock} at most: the late write undid sales.`;
      return { verdict: 'fail', reason, figures, witnesses };
    }
    const reason =
      sold > 0
        ? 'The late write undid no sale.'
        : `Nobody could sell while the holder was paused; the price is that everybody waited.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
