// English sentences for the steps of a scenario, one per form, in the past tense. The Chinese is in steps.zh.ts.

import { type FormsOf, type Given, type Sentence, worded } from '../../simulation/wording.ts';
import { countOf, formatDuration, formatNumber, listOf } from './numbers.ts';
import { orderSteps } from './order-steps.ts';
import { type Reason, reasoned } from './reasons.ts';

/** The values of a sentence: a sale by its letter, a node by its name, a time in milliseconds. */
interface OfSale {
  sale: string;
}
interface OfNode {
  node: string;
}
interface OfTime {
  ms: number;
}
interface AtNode extends OfSale, OfNode {}
interface OfCommand extends OfNode {
  command: 'write' | 'release';
}

/** Redis, or the master of this number. */
interface OfServer {
  master?: number | undefined;
}
/** The only replica, or the one of this number. */
interface OfReplica {
  replica?: number | undefined;
}
/** The lock that a server has forgotten, if it has. */
interface OfLock {
  forgot?: { key: string; owner: string } | undefined;
}

const andForgot = (said: string, lock: OfLock['forgot']) =>
  lock
    ? [said, `It lacks a write that Redis had acknowledged: the lock ${lock.key}, held by ${lock.owner}.`].join(' ')
    : said;
const times = (count: number) => (count === 1 ? 'once' : `${formatNumber(count)} times`);

export const lockSteps = {
  /** A text without a form of its own. */
  text: ({ text }: { text: string }) => text,

  // A sale comes, and gets in or does not.
  came: ({ sale, node }: AtNode) => `${sale} arrived at ${node}.`,
  'came for': ({ sale, node, ms }: AtNode & OfTime) =>
    `${sale} arrived at ${node}. Its sale takes ${formatDuration(ms)}.`,
  'came for a user': ({ sale, node, user }: AtNode & { user: string }) =>
    `${sale} arrived at ${node} for user ${user}.`,
  'came to wait at most': ({ sale, node, ms, waitMs }: AtNode & OfTime & { waitMs: number }) =>
    `${sale} arrived at ${node}. Its sale takes ${formatDuration(ms)}, and it waits for at most ${formatDuration(waitMs)}.`,
  'came under a lease': ({ sale, node, ms, leaseMs }: AtNode & OfTime & { leaseMs: number }) =>
    `${sale} arrived at ${node}. Its sale takes ${formatDuration(ms)}, under a lease of ${formatDuration(leaseMs)}.`,
  'asked for the lock': ({ sale, node }: AtNode) => `${sale} tried to acquire the lock on ${node}.`,
  waited: ({ sale, node }: AtNode) => `${sale} waited for the lock on ${node}.`,
  'got in': ({ sale, node, stock }: AtNode & { stock: number }) =>
    `${sale} acquired the lock on ${node} and read stock ${formatNumber(stock)}.`,
  read: ({ sale, node, stock }: AtNode & { stock: number }) => `${sale} read stock ${formatNumber(stock)} on ${node}.`,
  began: ({ sale, node }: AtNode) => `${sale} started its sale on ${node}.`,
  'forgot a release': ({ sale, node }: AtNode) =>
    `${sale} sold on ${node}. It acquired its lock twice and released it once.`,
  'gave up': ({ sale, tries, ms }: OfSale & OfTime & { tries: number }) =>
    `${sale} tried ${times(tries)} in ${formatDuration(ms)} and gave up.`,
  'waited in vain': ({ sale, ms }: OfSale & OfTime) => `${sale} waited for ${formatDuration(ms)} and gave up.`,
  'lock not confirmed': ({ sale }: OfSale) => `${sale} was refused, because no replica had confirmed its lock.`,

  // A sale stays inside, resumes and ends.
  stalled: ({ sale }: OfSale) => `${sale} stalled inside the critical section.`,
  hung: ({ sale }: OfSale) => `${sale} hung, and its process stayed alive.`,
  'was still inside': ({ sale }: OfSale) => `${sale} was still inside the critical section.`,
  resumed: ({ sale }: OfSale) => `${sale} resumed.`,
  'had nothing to resume': ({ sale }: OfSale) =>
    `${sale} was not inside the critical section, so there was nothing to resume.`,
  'blocked the event loop': ({ sale, node }: AtNode) => `${sale} resumed and blocked the event loop of ${node}.`,
  sold: ({ sale, before, after }: OfSale & { before: number; after: number }) =>
    `${sale} sold: the stock went from ${formatNumber(before)} to ${formatNumber(after)}.`,
  'was told that it had sold': ({ sale }: OfSale) => `${sale} was told that it had sold.`,
  'sold a basket': ({ sale, skus }: OfSale & { skus: string[] }) => `${sale} sold ${listOf(skus)}.`,
  'was answered': ({ sale, remaining }: OfSale & { remaining: number }) =>
    `${sale} got the response: ${formatNumber(remaining)} in stock.`,
  'was refused': ({ sale, code }: OfSale & { code: string }) => `${sale} was refused: ${code}.`,
  'was left in doubt': ({ sale, code }: OfSale & { code: string }) =>
    `${sale} got the response ${code}, which does not say whether it sold.`,
  'was answered nonsense': ({ sale }: OfSale) => `${sale} got a response that could not be parsed.`,
  'got no answer': ({ sale, ms }: OfSale & OfTime) =>
    `${sale} got no response: its connection was closed after ${formatDuration(ms)}.`,
  'had given up': ({ sale }: OfSale) => `${sale} had already given up.`,
  'all ended': ({ left }: { left: number }) => `All sales ended, with ${formatNumber(left)} left in stock.`,

  // Others sell.
  'others came': ({ node }: OfNode) => `Other sales arrived at ${node}, one after another.`,
  'others sold': ({ node, sold, ms }: OfNode & OfTime & { sold: number }) =>
    `${node} sold ${countOf(sold, 'unit')} in ${formatDuration(ms)}.`,
  'others asked in vain': ({ node, tries, ms }: OfNode & OfTime & { tries: number }) =>
    `${node} tried to acquire the lock ${times(tries)} in ${formatDuration(ms)} and sold nothing.`,
  'others sold nothing': ({ node, ms }: OfNode & OfTime) => `${node} sold nothing in ${formatDuration(ms)}.`,
  'sales slowed': ({ node, ms }: OfNode & OfTime) =>
    `The next sales on ${node} were set to take ${formatDuration(ms)} each.`,
  'sales held': ({ node }: OfNode) => `The next sales on ${node} were set to be held inside the critical section.`,
  'buyers began': ({ buyers, ms }: OfTime & { buyers: number }) =>
    `${countOf(buyers, 'buyer')} started to buy in a loop. Each sale takes ${formatDuration(ms)}.`,
  'buyers stopped': () => 'The buyers stopped.',
  'buyers waited': ({ buyers, node }: OfNode & { buyers: number }) =>
    `${countOf(buyers, 'buyer')} waited for the lock on ${node}.`,
  'buyers hung up': ({ buyers }: { buyers: number }) =>
    `${countOf(buyers, 'buyer')} disconnected, and their sales stopped waiting.`,
  'buyers hung up in vain': ({ buyers, waiting }: { buyers: number; waiting: number }) =>
    `${countOf(buyers, 'buyer')} disconnected, and ${countOf(waiting, 'sale')} still waited.`,
  'others inside or waiting': ({ node, inside, waiting }: OfNode & { inside: number; waiting: number }) =>
    `On ${node}, ${countOf(inside, 'sale was', 'sales were')} inside the critical section, and ${formatNumber(waiting)} waited.`,
  'others resumed': ({ node, sales }: OfNode & { sales: number }) => `${countOf(sales, 'sale')} on ${node} resumed.`,
  'asking began': ({ node }: OfNode) => `The buyers on ${node} kept trying to acquire the lock.`,
  'asked often': ({ node, tries, ms }: OfNode & OfTime & { tries: number }) =>
    `${node} tried to acquire the lock ${times(tries)} in ${formatDuration(ms)}.`,
  'time passed': ({ ms }: OfTime) => `${formatDuration(ms)} passed.`,

  // Others go first.
  'others came first': ({ sale, node }: AtNode) => `Other sales arrived at ${node} while ${sale} waited.`,
  'was passed over': ({ sale, others }: OfSale & { others: number }) =>
    `${countOf(others, 'other sale')} entered first, and ${sale} still waited.`,
  'was overtaken': ({ sale, others }: OfSale & { others: number }) =>
    `${countOf(others, 'other sale')} entered before ${sale}.`,
  'was not overtaken': ({ sale }: OfSale) => `No other sale entered before ${sale}.`,

  // Processes.
  killed: ({ node }: OfNode) => `${node} was killed (SIGKILL).`,
  paused: ({ node }: OfNode) => `${node} was paused (SIGSTOP).`,
  'process resumed': ({ node }: OfNode) => `${node} resumed (SIGCONT).`,

  // Connections.
  'write held': ({ sale }: OfSale) => `${sale} resumed, and its write was held on the way to Redis.`,
  'release held': ({ sale }: OfSale) => `${sale} resumed, and its release was held on the way.`,
  'write of the node held': ({ sale, node }: AtNode) =>
    `${sale} resumed, and the next write of ${node} was held on the way to Redis.`,
  'answers delayed': ({ node, ms }: OfNode & OfTime) =>
    `The connection of ${node} became slow: each reply from Redis was ${formatDuration(ms)} late.`,
  'cut off': ({ node }: OfNode) => `${node} was cut off from the servers of its lock.`,
  'reached its lock again': ({ node }: OfNode) => `${node} reached the servers of its lock again.`,
  'connection restored': ({ node }: OfNode) => `The connection of ${node} was restored.`,
  'late write': ({ sale, before, after }: OfSale & { before: number; after: number }) =>
    `The late write of ${sale} arrived: the stock went from ${formatNumber(before)} to ${formatNumber(after)}.`,
  'late write refused': ({ sale, stock }: OfSale & { stock: number }) =>
    `The late write of ${sale} arrived and was refused: the stock stayed at ${formatNumber(stock)}.`,
  'late write of the node': ({ node }: OfNode) => `The late write of ${node} arrived.`,
  'late release': ({ sale }: OfSale) => `The late release of ${sale} arrived.`,
  'release round': ({ round, command }: { round: number; command: string }) =>
    `Round ${round} began: the late command is ${command}.`,

  // Leases and clocks.
  'lease renewed': ({ sale }: OfSale) => `The lease of ${sale} was renewed.`,
  'lease ended': ({ sale }: OfSale) => `The lease of ${sale} ended.`,
  'lease has no end': ({ sale }: OfSale) => `The lock of ${sale} has no TTL: it does not expire.`,
  'no lease': ({ sale }: OfSale) => `${sale} had no lease that could end.`,
  'clock slowed': ({ node, percent }: OfNode & { percent: number }) =>
    `The clock of ${node} was slowed by ${percent} %.`,
  'clock lent': ({ master }: OfServer) =>
    `${master ? `Master ${master}` : 'Redis'} was replaced by a server whose clock can be set.`,
  'clock jumped': ({ master, ms }: OfTime & OfServer) =>
    `The clock of ${master ? `master ${master}` : 'Redis'} jumped ahead by ${formatDuration(ms)}.`,

  // Redis and its replicas.
  'replicas copied': ({ replicas }: { replicas: number }) =>
    `${countOf(replicas, 'replica was', 'replicas were')} in sync with Redis.`,
  'replication cut': ({ replica }: OfReplica) => `Replication ${replica ? `to replica ${replica} ` : ''}was cut.`,
  'replica caught up': ({ replica }: { replica: number }) => `Replica ${replica} received every write.`,
  'failed over': ({ replica, forgot }: OfReplica & OfLock) =>
    andForgot(`Redis was killed, and ${replica ? `replica ${replica}` : 'the replica'} was promoted.`, forgot),
  'failed over by itself': ({ server, ms, forgot }: OfTime & OfLock & { server: string }) =>
    andForgot(
      `Redis was killed. ${server} was elected, and both nodes were connected to it after ${formatDuration(ms)}.`,
      forgot,
    ),
  'Redis paused': () => 'Redis was paused (SIGSTOP).',
  'Redis resumed': () => 'Redis resumed (SIGCONT).',
  'Redis found again': ({ node, ms }: OfNode & OfTime) =>
    `Redis resumed. ${node} reconnected ${formatDuration(ms)} later.`,
  'Redis found again by the other': ({ node, other }: OfNode & { other: string }) =>
    `Redis resumed. A sale entered on ${other}, and then ${node} reconnected.`,
  'Redis killed': () => 'Redis was killed (SIGKILL).',
  'Redis started again': ({ ms }: OfTime) => `Redis restarted with its data after ${formatDuration(ms)}.`,
  'Redis spared': () => 'This Redis loses its data in a restart, so it was not killed.',
  'shop closed': () => 'Sales had not resumed, so the step was skipped.',
  'units sold': ({ sold, ms }: OfTime & { sold: number }) =>
    `${countOf(sold, 'unit was', 'units were')} sold in ${formatDuration(ms)}.`,
  'sales resumed': ({ ms }: OfTime) => `Sales resumed ${formatDuration(ms)} after Redis was back.`,
  'no sale in time': ({ ms }: OfTime) => `Nothing was sold within ${formatDuration(ms)} after Redis was back.`,
  'no new outage': () => 'There was no new outage to recover from.',

  // The servers of the lock.
  'minority killed': ({ killed, servers }: { killed: number; servers: number }) =>
    `${killed} of the lock's ${servers} servers ${killed === 1 ? 'was' : 'were'} killed (SIGKILL).`,
  'no minority': () => 'The lock has one server, so there was no minority to kill.',
  'no server missing': () => "All of the lock's servers were up.",
  'sales went on': ({ ms }: OfTime) => `A sale took place ${formatDuration(ms)} later.`,
  'sales did not go on': ({ ms }: OfTime) => `Nothing was sold within ${formatDuration(ms)}.`,
  'majority killed': ({ killed, servers }: { killed: number; servers: number }) =>
    servers === 1
      ? "The lock's only server was killed (SIGKILL)."
      : `One more was killed (SIGKILL): ${killed} of the lock's ${servers} servers were down, so there was no majority.`,
  'lock servers started again': ({ servers, ms }: OfTime & { servers: number }) =>
    `${countOf(servers, 'server')} of the lock restarted after ${formatDuration(ms)}.`,

  // Masters that vote.
  'master paused': ({ master }: { master: number }) => `Master ${master} was paused (SIGSTOP).`,
  'bare majority': ({ node, quorum, masters }: OfNode & { quorum: number; masters: number }) =>
    `${node} could reach only ${quorum} of ${masters} masters.`,
  'all masters': ({ node, masters }: OfNode & { masters: number }) => `${node} reached all ${masters} masters again.`,
  'no masters to cut': () => 'This lock has no masters, so no connection was cut.',
  'nothing to reconnect': ({ node }: OfNode) => `No connection of ${node} had been cut.`,
  votes: ({ sale, votes, masters }: OfSale & { votes: number; masters: number }) =>
    `${sale} had ${votes} of ${masters} votes.`,
  'no votes': () => 'This lock has no masters, so there were no votes to count.',
  'master forgot': ({ master }: { master: number }) => `Master ${master} restarted empty.`,
  'votes delayed': ({ sale, node, ms }: AtNode & OfTime) =>
    `${sale} asked for votes on ${node}, and the replies were delayed by ${formatDuration(ms)}.`,
  'votes came': ({ sale, ms }: OfSale & OfTime) => `The votes for ${sale} arrived after ${formatDuration(ms)}.`,
  'round began': ({ sales }: { sales: number }) => `The first of ${countOf(sales, 'sale')} in a row arrived.`,
  'round sold': ({ sold, sales, ms }: OfTime & { sold: number; sales: number }) =>
    `${sold} of ${countOf(sales, 'sale')} succeeded. Their median time was ${formatDuration(ms)}.`,

  // Two skus, and readers of the stock.
  'sku added': ({ sku }: { sku: string }) => `The shop put sku ${sku} on sale.`,
  'basket held': ({ sale, node, skus, first }: AtNode & { skus: string[]; first: string }) =>
    `${sale} arrived at ${node} for ${listOf(skus)}, acquired the lock of ${first} and was held before the second one.`,
  'basket waited': ({ sale, node, skus, first }: AtNode & { skus: string[]; first: string }) =>
    `${sale} arrived at ${node} for ${listOf(skus)} and waited for the lock of ${first}.`,
  'came to look': ({ sale, node }: AtNode) => `${sale} arrived at ${node} to look at the stock.`,
  'look asked for the lock': ({ sale, node }: AtNode) =>
    `${sale} tried to acquire the lock on ${node} to look at the stock.`,
  'look held': ({ sale, node }: AtNode) => `${sale} was held on ${node}, right before it read the stock.`,
  'look waited': ({ sale, node, ms }: AtNode & OfTime) =>
    `${sale} waited on ${node} for ${formatDuration(ms)} and had not read the stock yet.`,

  // The drill itself.
  'run again': ({ why }: { why: Reason[] }) => `${why.map(reasoned).join(' ')} The drill was run again.`,
  'run again on a busy machine': ({ ms }: OfTime) =>
    `The machine was too busy: nothing ran for ${formatDuration(ms)}. The drill was run again.`,

  // Free play.
  'free play began': ({ units }: { units: number }) => `Free play began with ${formatNumber(units)} units in stock.`,
  'came to be held': ({ sale, node }: AtNode) => `${sale} arrived at ${node}, to be held inside the critical section.`,
  'came to block': ({ sale, node }: AtNode) => `${sale} arrived at ${node} and blocked its event loop.`,
  'sale of the node resumed': ({ node }: OfNode) => `The sale on ${node} resumed.`,
  'command to be held': ({ node, command }: OfCommand) => `A hold was set on the next ${command} of ${node}.`,
  'command let go': ({ node, command }: OfCommand) => `The hold on the ${command} of ${node} was lifted.`,
  'started again': ({ node }: OfNode) => `${node} was restarted.`,
  'rush came': ({ buyers }: { buyers: number }) => `${countOf(buyers, 'buyer')} arrived through nginx.`,
  'Redis restarted': () => 'Redis was restarted.',
  'replica cut off': () => 'Redis got a replica, and replication to it was cut.',
  'replica took over': () => 'Redis failed over to its replica.',
};

/** All forms of a drill's steps. */
export const steps = { ...lockSteps, ...orderSteps };
export type StepForms = FormsOf<typeof steps>;
/** What happened in a step. */
export type StepSentence = Sentence<StepForms>;

export const told = <Form extends keyof StepForms>(form: Form, ...[values]: Given<StepForms[Form]>) =>
  ({ form, values: values ?? {} }) as StepSentence;

/** The sentence in English. */
export const narrated = (sentence: StepSentence): string => worded<StepForms>(steps, sentence);
