// Sentences about sales that need the locks of two skus: steps and demands.

import { lockKey } from '../../services/inventory/servers/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { actorOf, demand, holdNext, needing, type Playing } from './playing.ts';

const SKUS = ['001', '002'];
/** How long a basket may take to reach its second lock, or to find its first one taken, in milliseconds. */
const STEP_LIMIT_MS = 2_000;

const withLinks = needing('links');

export const steps = [
  needing('baskets')('the shop sells sku 002, too', async (playing) => {
    await playing.addSku('002');
    return told('sku added', { sku: '002' });
  }),
  withLinks(
    '<sale> sells a basket of <skus> at <node>, and is held before its second lock<orElse>',
    async (playing, { sale: name, skus, node, orElse }) => {
      const { held, tries, first } = sellBasket(playing, name, skus, node);
      // A second try for the same lock is made when the first one was in vain.
      const hasGoneFar = () => held.isThere() || (orElse !== '' && tries() > 1);
      await playing.record.mustSee(hasGoneFar, STEP_LIMIT_MS, `${node.name} never tried to acquire a second lock.`);
      if (orElse === '') {
        const left = await playing.lock.keysLeft();
        const taken = SKUS.filter((sku) => left.some(({ key }) => key === lockKey(sku, playing.stage)));
        if (taken.length !== 1)
          throw new NotStagedError(`${node.name} held ${taken.length} of the locks instead of one.`);
      }
      const values = { sale: name, node: node.name, skus: skus.split(' and '), first: first() };
      return told(held.isThere() ? 'basket held' : 'basket waited', values);
    },
  ),
];

export const demands = [
  demand('<sale> and <other> succeed', async (playing, { events }, names) => {
    const both = [names.sale, names.other].map((name) => actorOf(playing, name));
    const ends = await Promise.all(both.map(({ sale }) => sale.end));
    if (events.some(({ type }) => type === 'lease-lost')) {
      throw new NotStagedError('A lease ended while a basket was held.');
    }
    const unsold = ends.filter(({ outcome }) => outcome !== 'sold').length;
    const answers = ends.map((end) => ('code' in end ? end.code : end.outcome));
    const areCrossed = both.every(({ held }) => held?.isThere());
    const slowestSaleMs = Math.max(
      ...both.map(({ wentOnAt }, at) => {
        const { sentAt, ms } = ends[at] ?? { sentAt: playing.clock.now(), ms: 0 };
        return sentAt + ms - (wentOnAt ?? sentAt);
      }),
    );
    const unsoldOnes = { baskets: unsold, ms: slowestSaleMs };
    const wrong = areCrossed
      ? because('baskets crossed', unsoldOnes)
      : because('baskets not sold', { ...unsoldOnes, answers });
    return {
      wrong: unsold > 0 && wrong,
      right: because(areCrossed ? 'crossed baskets sold' : 'baskets sold in turn', {
        sales: [names.sale, names.other],
      }),
      figures: { unsold, slowestSaleMs },
    };
  }),
  demand('the stock of each sku matches the baskets that were sold', async ({ actors, first, initialStock }) => {
    const ends = await Promise.all([...actors.values()].map(({ sale }) => sale.end));
    const stocks = (await Promise.all(SKUS.map((sku) => first.stock(sku)))).map(Number);
    const sold = ends.filter(({ outcome }) => outcome === 'sold').length;
    const expectedStock = initialStock - sold;
    const [lowest, finalStock] = [Math.min(...stocks), Math.max(...stocks)];
    if (!(lowest >= expectedStock)) {
      throw new NotStagedError(`The stock is ${stocks.join(' and ')}, but the baskets explain ${expectedStock}.`);
    }
    return {
      wrong: finalStock > expectedStock && because('stocks of baskets', { sold, stocks, expected: expectedStock }),
      figures: { asked: ends.length, sold, expectedStock, finalStock, lostUpdates: finalStock - expectedStock },
    };
  }),
];

/** Sells a basket, and holds its node before the second lock. `first`: the sku of the lock that it asked for first. */
function sellBasket(playing: Playing, name: string, listed: string, node: TargetNode) {
  const { actors } = playing;
  const skus = listed.split(' and ');
  const keys = skus.map((sku) => lockKey(sku, playing.stage));
  let first: string | undefined;
  let tries = 0;
  const held = holdNext(playing, node, ({ args }) => {
    const key = keys.find((each) => args.includes(each));
    if (key === undefined) return false;
    first ??= key;
    if (key === first) tries += 1;
    playing.record.ring();
    return key !== first;
  });
  const askedAt = playing.clock.now();
  const sale = playing.sales.sellBasket(node, skus, name);
  actors.set(name, { node, askedAt, sale, held });
  return { held, tries: () => tries, first: () => skus.find((_, at) => keys[at] === first) ?? '' };
}
