// One purchase comes twice, to both nodes at the same moment: each asks its servers before either has written anything.

import { NotStagedError } from '../../evidence/not-staged.ts';
import { notStaged } from '../../harness/play.ts';
import type { TargetNode } from '../../harness/target.ts';
import type { KeyDrill, PurchaseTestBed } from '../purchase.ts';

/** How much later each answer of a server reaches its node, in milliseconds. */
const DELAY_MS = 150;

export const clicksAtOnce: KeyDrill = {
  name: 'clicks-at-once',
  needs: ['links'],
  async run(testBed) {
    const { nodes } = testBed;
    await testBed.step(
      `One purchase comes to both nodes at the same moment, and each answer of Redis and MySQL takes ${DELAY_MS} ms.`,
    );
    // So that neither has to connect first.
    for (const node of nodes) await mustAnswer(testBed, node, '/orders?limit=1');
    const links = nodes.flatMap(({ link, backendLinks }) => [link, backendLinks?.mysql]);
    for (const link of links) link?.delayReplies(DELAY_MS);
    try {
      const startedAt = performance.now();
      const clicks = nodes.map((node) => testBed.click(node));
      const firstMs = Promise.race(clicks).then(() => performance.now() - startedAt);
      // A node that answers this has been given the click that was sent before it.
      await Promise.all(nodes.map((node) => mustAnswer(testBed, node, '/healthz')));
      const givenMs = performance.now() - startedAt;
      if (givenMs >= DELAY_MS) return notStaged('A click came so late that the other one may have been answered.');
      await testBed.say('Both nodes have it, and neither has heard of its servers yet.');
      const answers = await Promise.all(clicks);
      if ((await firstMs) < DELAY_MS) return notStaged('A click was answered sooner than the servers answer its node.');
      const judgement = await testBed.judgeOrders('each node had looked before the other one had written');
      if (judgement.verdict === 'pass') testBed.mustBeAnswered(...answers);
      return judgement;
    } finally {
      for (const link of links) link?.delayReplies(0);
    }
  },
};

/** Throws NotStagedError when the node does not answer. */
async function mustAnswer({ stopping }: PurchaseTestBed, { name, publicUrl }: TargetNode, path: string) {
  const answered = fetch(new URL(path, publicUrl), { signal: stopping }).then((answer) => answer.arrayBuffer());
  await answered.catch(() => {
    throw new NotStagedError(`${name} does not answer.`);
  });
}
