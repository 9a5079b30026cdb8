// One purchase comes as many identical requests, the first of them still running. How many orders are made of it?

import { formatNumber } from '../../evidence/numbers.ts';
import type { TargetNode } from '../../harness/target.ts';
import type { ClientAnswer, KeyDrill, PurchaseTestBed } from '../purchase.ts';

const CLICKS = 50;

export const oneNodeClick: KeyDrill = {
  name: 'one-node-click',
  run: (testBed) => clickOften(testBed, [testBed.first], `all of them on ${testBed.first.name}`),
};

export const doubleClick: KeyDrill = {
  name: 'double-click',
  run: (testBed) => clickOften(testBed, [testBed.second, testBed.first], 'over both nodes'),
};

async function clickOften(testBed: PurchaseTestBed, nodes: TargetNode[], where: string) {
  const { first, until } = testBed;
  await testBed.step(`One purchase comes ${CLICKS} times, with one key, ${where}.`);
  const inside = await testBed.clickInside(first);
  await testBed.say(`The first click is inside its sale on ${first.name}.`);

  const answered: ClientAnswer[] = [];
  const others = Array.from({ length: CLICKS - 1 }, async (_, n) => {
    answered.push(await testBed.click(nodes[n % nodes.length] ?? first));
  });
  await until('The other clicks were neither answered nor waiting for the lock of the sale.', async () => {
    const states = await Promise.all(testBed.nodes.map((node) => node.state()));
    return answered.length + states.reduce((sum, { waiting }) => sum + waiting, 0) === CLICKS - 1;
  });
  await inside.mustBeInside();
  const refused = answered.filter(({ code }) => code === 'REQUEST_IN_PROGRESS').length;
  await testBed.say(
    `${formatNumber(refused)} others are refused at once; ${CLICKS - 1 - answered.length} wait for the lock of the sale.`,
  );

  await first.resume();
  await Promise.all(others);
  const held = await inside.end;
  const judgement = await testBed.judgeOrders(`a repeat that comes while the first runs makes an order of its own`, {
    clicks: CLICKS,
    refused,
  });
  // Two orders are one too many, whatever became of the other clicks.
  if (judgement.verdict === 'pass') testBed.mustBeAnswered(held, ...answered);
  return judgement;
}
