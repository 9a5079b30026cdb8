// Sentences about readers of the stock: steps and demands.

import type { Ended, LookAnswer } from '../evidence/answers.ts';
import { isSame } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { mustHaveHadTime } from './demands.ts';
import { howEnded } from './endings.ts';
import { type Actor, actorOf, demand, holdNext, insideOf, needing, type Playing, step } from './playing.ts';
import { passedOver } from './waiting.ts';

/** How much too early a response may seem to arrive, in milliseconds. */
const EARLIER_MS = 30;

export const steps = [
  needing('looks')(
    '<sale> looks at the stock at <node>, and asks for the lock or is answered',
    async (playing, { sale, node }) => {
      const tried = playing.lock.triesOf(node);
      const looker = look(playing, sale, node);
      const hasAsked = () => looker.sale.ended !== undefined || playing.lock.triesOf(node) > tried;
      await playing.record.mustSee(
        hasAsked,
        STEP_LIMIT_MS,
        `${node.name} neither tried to acquire a lock nor responded.`,
      );
      const { ended } = looker.sale;
      return ended ? howEnded(sale, ended) : told('look asked for the lock', { sale, node: node.name });
    },
  ),
  needing('looks', 'links')(
    '<sale> looks at the stock at <node>, and is held before it reads[, or waits for <limit>]',
    async (playing, { sale, node, limit }) => {
      await playing.say(told('came to look', { sale, node: node.name }));
      const held = holdNext(playing, node, playing.wire.isStockRead);
      look(playing, sale, node, held);
      if (await playing.record.until(held.isThere, limit ?? STEP_LIMIT_MS))
        return told('look held', { sale, node: node.name });
      if (limit === undefined) throw new NotStagedError(`${node.name} did not read the stock.`);
      await mustHaveHadTime(playing, limit);
      return told('look waited', { sale, node: node.name, ms: limit });
    },
  ),
  step(
    '<count> others look at the stock at <node> while <sale> waits, each when the previous one is about to read',
    (playing, { count, node, sale }) => lookFirst(playing, { most: count, node, name: sale }),
  ),
];

export const demands = [
  demand(
    '<sale> is answered after <other> has written, with the stock that it wrote',
    async (playing, { events }, names) => {
      const { node } = actorOf(playing, names.sale);
      const { remaining, sentAt, ms } = await lookedAt(actorOf(playing, names.sale));
      const sale = insideOf(playing, names.other);
      const wrote = events.find((event) => event.type === 'wrote' && isSame(event, sale));
      if (wrote?.stock === undefined) throw new NotStagedError(`Sale ${sale.saleId} on ${sale.node} did not write.`);
      const isEarly = sentAt + ms < wrote.at;
      const answer = { node: node.name, stock: remaining, sale: sale.saleId };
      const wrong = isEarly
        ? because('answered too early', { ...answer, seller: sale.node })
        : because('answered an old stock', { ...answer, written: wrote.stock });
      return {
        wrong: (isEarly || remaining !== wrote.stock) && wrong,
        right: because('looker waited', {}),
        figures: { earlyAnswers: isEarly ? 1 : 0 },
      };
    },
  ),
  demand('<sale> and <other> are inside at the same moment', async (playing, _outcome, { sale, other }) => {
    const both = [sale, other].map((name) => actorOf(playing, name));
    await Promise.all(both.map(lookedAt));
    const areTogether = both.every(({ held }) => held?.isThere());
    const [one = '', two = ''] = both.map(({ node }) => node.name);
    return {
      wrong: !areTogether && because('looker waited for a looker', { node: two, other: one }),
      right: because('two looked at once', {}),
      figures: { readersAtOnce: areTogether ? 2 : 1 },
    };
  }),
  demand('<sale> enters after <other> has read', async (playing, { events }, names) => {
    const { node, askedAt } = actorOf(playing, names.sale);
    const { node: reader, wentOnAt = 0 } = actorOf(playing, names.other);
    const own = events.filter((event) => event.node === node.name && event.at > askedAt);
    const [waiting, entered] = ['waiting', 'entered'].map((type) => own.find((event) => event.type === type)?.at);
    if (waiting === undefined || waiting > wentOnAt || entered === undefined) {
      throw new NotStagedError(`The sale on ${node.name} did not try to acquire the lock while a reader was inside.`);
    }
    const wrong = because('entered while another looked', { node: node.name, reader: reader.name });
    return { wrong: entered < wentOnAt && wrong };
  }),
];

function look(playing: Playing, name: string, node: TargetNode, held?: Actor['held']): Actor {
  const actor = { node, askedAt: playing.clock.now(), sale: playing.sales.look(node), held };
  playing.actors.set(name, actor);
  return actor;
}

/** How a reader ended. Throws NotStagedError when the response was not a stock. */
async function lookedAt({ node, sale }: Actor): Promise<Extract<Ended<LookAnswer>, { outcome: 'looked' }>> {
  const end = await sale.end;
  if (end.outcome === 'looked') return end;
  const answer = 'code' in end ? end.code : 'nothing';
  throw new NotStagedError(`${node.name} was asked for the stock and responded ${answer}.`);
}

/** One after the other looks, and each is still inside when the next one comes. Resolves when the sale is in, or when so many have looked first. */
async function lookFirst(playing: Playing, { most, node, name }: { most: number; node: TargetNode; name: string }) {
  const { sale, askedAt } = actorOf(playing, name);
  await playing.say(told('others came first', { sale: name, node: node.name }));
  let reads = 0;
  const unwatch = playing.faults.watchCommands(node, (command) => {
    if (playing.wire.isStockRead(command)) reads += 1;
    playing.record.ring();
  });
  const isIn = () => sale.ended !== undefined;
  const looks: Actor[] = [];
  let overtakes = 0;
  while (overtakes < most && !isIn()) {
    const seen = reads;
    looks.push(look(playing, `${name}${overtakes}`, node));
    await playing.record.until(() => isIn() || reads > seen, STEP_LIMIT_MS);
    if (isIn() || reads === seen) break;
    overtakes += 1;
  }
  unwatch();
  const isStarved = overtakes === most && !isIn();
  Object.assign(playing.figures, { overtakes, ...(isStarved && { waitedMs: playing.clock.now() - askedAt }) });
  for (const looked of await Promise.all(looks.map(lookedAt))) {
    if (looked.ms < playing.slowMs - EARLIER_MS) throw new NotStagedError(`The reader on ${node.name} was not slow.`);
  }
  return passedOver(name, overtakes, isStarved);
}
