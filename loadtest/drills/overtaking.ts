// Ten sales ask for the lock one after the other, over both nodes, and one node is slower. Do they enter in the order in which they
// asked?

import { keyOf, nameOf, spansOf } from '../evidence/history.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** On which node each asks. Nodes that take turns do not keep this order, whether one or several go in at each turn. */
const ASKED_ON = [1, 1, 0, 1, 0, 0, 1, 0, 1, 1];
/**
 * How much later node-2 hears each answer of Redis, in milliseconds. It has asked first: who wakes both nodes lets node-1 win, on every
 * machine. Without it the order would be luck, and might now and then be the right one.
 */
const SLOW_MS = 100;
/** How long each stays inside, in milliseconds. */
const SALE_MS = 20;
const STEP_LIMIT_MS = 5_000;

export const overtaking: StepDrill = {
  name: 'overtaking',
  needs: ['links'],
  // A lease that outlasts the drill: nobody may enter because it has ended.
  timing: { leaseMs: 30_000, waitTimeoutMs: 600_000 },
  // A node-1 that stands still for as long no longer wins.
  wrongMs: SLOW_MS,
  async run(testBed): Promise<Judgement> {
    const nodes = [testBed.first, testBed.second] as const;
    // The first sale of a node connects it to the servers of the lock, which takes a while.
    for (const node of nodes) {
      if ((await testBed.sellWithin(node, STEP_LIMIT_MS)).outcome !== 'sold') {
        return notStaged(`${node.name} did not sell before the drill.`);
      }
    }
    const holder = await testBed.sellInside(testBed.first, { untilResumed: true });
    for (const node of nodes) await node.script({ pauseMs: SALE_MS, times: ASKED_ON.length });
    const waits = async () => (await testBed.events()).filter(({ type }) => type === 'waiting');
    const before = (await waits()).length;
    const asked: string[] = [];
    const sales: ReturnType<typeof testBed.sell>[] = [];
    for (const on of ASKED_ON) {
      const node = on === 0 ? testBed.first : testBed.second;
      sales.push(testBed.sell(node));
      const event = await testBed.waitFor(async () => (await waits())[before + asked.length], STEP_LIMIT_MS);
      if (event === undefined) return notStaged(`The sale on ${node.name} did not ask for the lock.`);
      asked.push(keyOf(event));
      await testBed.hasAsked(node);
    }
    const waiting = (await testBed.first.state()).waiting + (await testBed.second.state()).waiting;
    if (waiting < ASKED_ON.length)
      return notStaged(`${waiting} of ${ASKED_ON.length} sales waited for the lock.`, { isLate: true });
    await testBed.mustBeInside(holder);
    await testBed.step(
      `Sale ${holder.saleId} on ${testBed.first.name} is inside, and ${ASKED_ON.length} sales have asked, one after the other. The line from ${testBed.second.name} to Redis becomes slow.`,
    );
    const slow = testBed.delayAnswers(testBed.second, SLOW_MS);
    const line = testBed.mark('line slow', { node: testBed.second });
    await testBed.first.resume();
    const ends = await Promise.all(sales.map(({ end }) => end));
    slow.over();
    line.over();
    const unsold = ends.filter(({ outcome }) => outcome !== 'sold').length;
    if (unsold > 0) return notStaged(`${unsold} of ${ASKED_ON.length} sales did not take place.`, { isLate: true });

    const outcome = await testBed.outcome();
    const entered = spansOf(outcome.events).filter((span) => asked.includes(keyOf(span)));
    const placeOf = (sale: (typeof entered)[number]) => asked.indexOf(keyOf(sale));
    // Each with one that had asked later and went in before it.
    const overtaken = entered.flatMap((sale, place) => {
      const ahead = entered.slice(0, place).find((other) => placeOf(other) > placeOf(sale));
      return ahead === undefined ? [] : [{ sale, ahead }];
    });
    const figures = { overtaken: overtaken.length, asked: asked.length };
    if (overtaken.length > 0) {
      const order = entered.map((sale) => placeOf(sale) + 1).join(', ');
      const witnesses = overtaken.map(
        ({ sale, ahead }) => `${nameOf(sale)} asked before ${nameOf(ahead)}, and went in after it`,
      );
      const reason = `${overtaken.length} of ${asked.length} were overtaken: they entered in the order ${order}.`;
      return { verdict: 'fail', reason, figures, witnesses };
    }
    return { verdict: 'pass', reason: 'They entered in the order in which they had asked.', figures, witnesses: [] };
  },
};
