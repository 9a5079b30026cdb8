// Two ticks have read the same orders, of one node or of both. Are these restored twice?

import type { TargetNode } from '../../harness/target.ts';
import { type CleanUpTestBed, describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

const DUE = 100;

/** A tick of a node comes before its last one has ended. */
export const sameNodeTwice: GuardDrill = {
  name: 'same-node-twice',
  leaseMs: LONG_LEASE_MS,
  run: (testBed) => {
    const { first } = testBed;
    const story = {
      begins: `${first.name} ticks, and ticks again before it has restored anything.`,
      names: ['The first tick', 'The second tick'],
      how: `two ticks of ${first.name} had both read the same orders`,
    } as const;
    return tickTwice(testBed, first, story);
  },
};

/** Both nodes tick at the same moment, each by its own schedule. */
export const doubleRestore: GuardDrill = {
  name: 'double-restore',
  leaseMs: LONG_LEASE_MS,
  run: (testBed) => {
    const { first, second } = testBed;
    const story = {
      begins: `${first.name} and ${second.name} tick at the same moment.`,
      names: [first.name, second.name],
      how: `${first.name} and ${second.name} had both read the same orders`,
    } as const;
    return tickTwice(testBed, second, story);
  },
};

interface Story {
  begins: string;
  /** Of the two ticks. */
  names: readonly [string, string];
  how: string;
}

/** The other tick is of the node `other`. */
async function tickTwice(testBed: CleanUpTestBed, other: TargetNode, { begins, names, how }: Story) {
  const { first } = testBed;
  await testBed.makeDue(DUE);
  await testBed.step(`${DUE} orders are due. ${begins}`);
  const one = await testBed.holdTick(first, { after: 'read', orders: 1 });
  await testBed.say(`${names[0]} has read that ${DUE} orders are due.`);
  const two = await testBed.startTick(other, { after: 'read', orders: 1 });
  await testBed.nothingRestored();
  await testBed.say(`${names[1]} ${two.ended() ? 'is skipped' : 'has read the same orders'}.`);

  for (const [at, { node, result }] of [one, two].entries()) {
    await node.resume();
    await testBed.say(`${names[at]} ${describeTick(await result)}.`);
  }
  testBed.mustHaveRun(first, await one.result);
  testBed.mustNotFail(other, await two.result);
  return testBed.judge(how);
}
