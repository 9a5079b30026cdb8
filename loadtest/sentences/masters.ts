// Sentences about masters that vote, are paused, or reply late: steps and demands.

import type { SaleEnd } from '../evidence/answers.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { formatDuration } from '../narration/numbers.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { actorOf, breaks, demand, mend, mustBeSo, needing, type Playing, step } from './playing.ts';
import { sell } from './sales.ts';
import type { Finding } from './sentence.ts';

/** How long an uncontended sale may take, in milliseconds. */
const SALE_LIMIT_MS = 5_000;
/** How long a command of a node may take to reach a master, in milliseconds. */
const HEARD_LIMIT_MS = 300;

/** Needs masters that can be broken, and nodes that can be cut off from them. */
const withLinks = needing('links');
const withMasters = needing('masters', 'links', 'master processes');

export const steps = [
  /** Without masters there is nothing to cut. */
  withLinks('<node> reaches a bare majority of the masters[, if there are any]', async (playing, { node }) => {
    const { masterCount } = playing.lock;
    if (masterCount === 0) return told('no masters to cut');
    const quorum = quorumOf(masterCount);
    const others = Array.from({ length: masterCount }, (_, master) => master).slice(quorum);
    const restore = playing.faults.cutMasters(node, others);
    breaks(playing, `${node.name} lacks masters`, deed('masters cut off', { lines: others.length }), { node }, restore);
    return told('bare majority', { node: node.name, quorum, masters: masterCount });
  }),
  step('<node> reaches all masters again', async (playing, { node }) => {
    await mend(playing, `${node.name} lacks masters`);
    const { masterCount: masters } = playing.lock;
    return masters === 0
      ? told('nothing to reconnect', { node: node.name })
      : told('all masters', { node: node.name, masters });
  }),
  step('<sale> has the votes of a bare majority[, if there are masters]', async (playing, { sale }) => {
    const { masterCount: masters } = playing.lock;
    if (masters === 0) return told('no votes');
    const { node } = actorOf(playing, sale);
    const [votes, quorum] = [await playing.lock.votesFor(node), quorumOf(masters)];
    if (votes === quorum) return told('votes', { sale, votes, masters });
    throw new NotStagedError(`${votes} masters had voted for ${node.name} instead of ${quorum}.`);
  }),
  withMasters('a master of that majority restarts empty', async (playing) => {
    const quorum = quorumOf(playing.lock.masterCount);
    const isReachedBy = await playing.faults.forgetMaster(quorum - 1);
    playing.mark(deed('master restarts empty', { master: quorum }));
    // Some locks keep the votes of a try that failed: they would be in their own way.
    const isReached = async () => (await isReachedBy(playing.second)) || undefined;
    if (await playing.record.waitFor(isReached, STEP_LIMIT_MS)) return told('master forgot', { master: quorum });
    throw new NotStagedError(`${playing.second.name} did not reach master ${quorum} after its restart.`);
  }),
  needing('masters', 'master processes')('master <count> is paused (SIGSTOP)', async (playing, { count }) => {
    const { masterCount } = playing.lock;
    if (masterCount <= 2 * count) {
      throw new NotStagedError(`${count} of ${masterCount} masters are not a minority.`);
    }
    await playing.faults.freezeMaster(count - 1);
    playing.mark(deed('master stopped', { master: count }));
    return told('master paused', { master: count });
  }),
  step('<count> sales run one after another', async (playing, { count }) => {
    const { first, second } = playing;
    await playing.say(told('round began', { sales: count }));
    const ends: SaleEnd[] = [];
    for (let sale = 0; sale < count; sale += 1) {
      ends.push(await playing.sales.sell(sale % 2 ? second : first).endWithin(SALE_LIMIT_MS));
    }
    playing.rounds.push(ends);
    return told('round sold', { sold: ends.length - unsoldOf(ends), sales: ends.length, ms: middleOf(ends) });
  }),
  withMasters(
    '<sale> sells at <node> for <time>, and its votes arrive <limit> late',
    async (playing, { sale, node, time, limit }) => {
      const before = playing.lock.triesOf(node);
      await node.script({ pauseMs: time });
      const majority = Array.from({ length: quorumOf(playing.lock.masterCount) }, (_, master) => master);
      const delay = playing.faults.delayAnswers(node, limit, majority);
      const { over } = playing.mark(deed('votes late'), { node });
      sell(playing, sale, node);
      const measured = delay.measure();
      playing.lateVotes = async () => {
        const ms = await measured;
        delay.over();
        over();
        return ms;
      };
      const haveHeard = () => playing.lock.triesOf(node) > before;
      await playing.record.mustSee(
        haveHeard,
        HEARD_LIMIT_MS,
        `The commands of ${node.name} did not reach the masters in time.`,
      );
      return told('votes delayed', { sale, node: node.name, ms: limit });
    },
  ),
  step('the votes for <sale> have arrived', async (playing, { sale }) => {
    const { leaseMs } = playing;
    const { node, askedAt } = actorOf(playing, sale);
    const ms = (await playing.lateVotes?.()) ?? 0;
    if (ms < leaseMs) throw new NotStagedError(`The replies were not late: they took ${formatDuration(ms)}.`);
    mustBeSo(playing, ({ events }) => {
      const early = events.filter(({ at, type }) => type === 'entered' && at > askedAt && at < askedAt + leaseMs);
      return early.every((event) => event.node !== node.name) || `${node.name} entered before the votes were late.`;
    });
    return told('votes came', { sale, ms });
  }),
];

export const demands = [
  demand('all sales succeed, and the median takes at most <time> longer', (playing, _outcome, { time }) =>
    judgePace(playing, time),
  ),
];

/** Compares each round with the first, which shows the usual pace. Throws NotStagedError when the cost of a paused master can't be told. */
async function judgePace({ rounds, mustHaveGoneOn }: Playing, limitMs: number): Promise<Finding> {
  const [usual = [], ...others] = rounds;
  if (unsoldOf(usual) > 0) throw new NotStagedError('Sales failed before the fault.');
  const during = others.flat();
  const usualMs = middleOf(usual);
  const costMs = Math.max(0, Math.max(...others.map(middleOf)) - usualMs);
  const unsold = unsoldOf(during);
  const slowestSaleMs = Math.max(...during.map(({ ms }) => ms));
  const isSlow = costMs > limitMs;
  // A vote that waits as long for its turn is no vote.
  if (unsold > 0 || isSlow) await mustHaveGoneOn(limitMs);
  const wrong = [
    ...(unsold > 0 ? [because('sales not made', { unsold, sales: during.length })] : []),
    ...(isSlow ? [because('sales slowed down', { ms: costMs })] : []),
  ];
  return {
    wrong,
    right: because('sales kept their pace', { ms: costMs, slowestMs: slowestSaleMs }),
    figures: { unsold, usualMs, costMs, limitMs, slowestSaleMs },
  };
}

const unsoldOf = (sales: SaleEnd[]) => sales.filter(({ outcome }) => outcome !== 'sold').length;

/** The median time: a lasting fault slows all sales, a busy machine only a few. */
function middleOf(sales: SaleEnd[]): number {
  return sales.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(sales.length / 2)] ?? 0;
}

export const quorumOf = (masters: number) => Math.floor(masters / 2) + 1;
