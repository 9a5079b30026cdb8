// Why each drill comes to its verdict, as it says itself.

export interface Reason {
  sign: '✔' | '✘';
  /** What it says, with N for each number and each duration. */
  says: string;
  /** The locks of which it says so; all for which no reason above stands, when they are not given. */
  of?: string[];
}

const withoutEnd = ['2-recursive-retry', '3-spin'];
const undone: Reason = { sign: '✘', says: 'The stock is N instead of N at most: the late write undid sales.' };
const allWaited: Reason = {
  sign: '✔',
  says: 'Nobody could sell until the late write had come; the price is that everybody waited.',
  of: withoutEnd,
};
const lateWrite = [undone, allWaited, { sign: '✔', says: 'The late write undid no sale.' } satisfies Reason];
const load: Reason[] = [
  { sign: '✔', says: 'N sold · stock N as expected · none oversold' },
  { sign: '✘', says: 'N sold · stock N expected N · N oversold Two holders inside at the same moment: N times.' },
];
const alone: Reason = { sign: '✔', says: 'Nobody else was inside, and no sale was lost.' };
/** The stock refuses what comes late, so no sale is lost where another got in. */
const fenced = ['combine', 'fenced-writes', 'fenced', 'buckets', 'multi'];

/** The reasons of each drill: the first that has the sign and is of the lock. */
export const reasons: Record<string, Reason[]> = {
  'one-node-rush': load,
  rush: load,
  'sell-out': [
    { sign: '✔', says: 'N sold · stock N as expected · none oversold' },
    {
      sign: '✘',
      says: 'N sold of N · stock N expected N · N oversold Two holders inside at the same moment: N times.',
      of: ['0-none'],
    },
    { sign: '✘', says: 'N sold of N · stock N · N oversold Two holders inside at the same moment: N times.' },
  ],
  'crashed-holder': [
    { sign: '✔', says: 'node-N sold again N after the crash.' },
    { sign: '✘', says: 'node-N could not sell within N: the lock of the dead holder is still there.' },
  ],
  'hung-holder': [
    { sign: '✔', says: 'node-N sold N after the other sale had begun to hang.' },
    { sign: '✘', says: 'node-N could not sell within N: the sale that hangs still has the lock.' },
  ],
  'slow-holder': [
    {
      sign: '✔',
      says: 'The slow holder left, and no two of the others met.',
      of: ['5-owner-check', '6-lua-release', '7-reentrant', 'delete-if-equal', 'bounded'],
    },
    { sign: '✔', says: 'Nobody entered while the slow holder stalled; the price is that everybody waited.' },
    { sign: '✘', says: 'Two of the others were inside at the same moment, so both may sell the same unit.' },
  ],
  'late-release': [
    {
      sign: '✔',
      says: 'Nobody could enter within N; the price of the late release is that everybody waited.',
      of: withoutEnd,
    },
    { sign: '✔', says: 'The late release did nothing: the third sale entered after sale N had left.' },
    { sign: '✘', says: 'The late release deleted the lock of sale N and sale N entered as well.' },
  ],
  'nested-call': [
    {
      sign: '✔',
      says: 'Answered in N, and by another lock object of the same request in N; the outer lock held after the inner release.',
    },
    {
      sign: '✘',
      says: 'Another holder entered before the sale had left: the outer lock did not hold after it was asked for again by the same object.',
      of: ['0-none'],
    },
    { sign: '✘', says: 'The holder waited for itself: after N it had not sold.' },
  ],
  'long-sale': [
    { sign: '✔', says: 'N sales one after the other, and none was lost.' },
    { sign: '✘', says: 'Two holders inside at the same moment: N pair. Sales lost: at least N' },
  ],
  'paused-process': lateWrite,
  'blocked-loop': lateWrite,
  partition: lateWrite,
  'late-write': lateWrite,
  'crossed-write': [
    {
      sign: '✔',
      says: 'Nobody could enter within N, until the late write had come; the price is that everybody waited.',
      of: withoutEnd,
    },
    {
      sign: '✔',
      says: 'The late write was refused between the read and the write of sale N on node-N: no sale is lost.',
    },
    {
      sign: '✘',
      says: 'The stock took the writes of both sales, and fell from N to N: sale N on node-N undid the late write.',
    },
  ],
  'late-batch': [
    {
      sign: '✘',
      says: 'One late write was refused, and N of N buyers got nothing and do not know it: they were answered that their sale is in doubt. None is lost.',
    },
  ],
  'early-read': [
    {
      sign: '✔',
      says: 'Who looked waited for the sale, two looked at once, and a sale waited N for those who look without end.',
    },
  ],
  'crossed-skus': [{ sign: '✔', says: 'All N baskets were sold, one after the other.' }],
  failover: [
    alone,
    {
      sign: '✘',
      says: 'The replica knew nothing of sale N: others sold N units while it was inside.',
      of: fenced,
    },
    {
      sign: '✘',
      says: 'The replica knew nothing of sale N: others sold N units while it was inside. The stock is N instead of N at most.',
    },
  ],
  'forgotten-sale': [
    {
      sign: '✘',
      says: 'The stock is N instead of N at most: it knows nothing of N sale that was answered as sold.',
    },
  ],
  'redis-outage': [
    {
      sign: '✔',
      says: 'No sale is lost, N of N are in doubt. While Redis was away an answer took N at most; after its return sales flowed again in N.',
    },
    { sign: '✘', says: 'N sales lost.' },
  ],
  'client-gone': [{ sign: '✔', says: 'After N nobody waited; the next sale took N.' }],
  starvation: [
    { sign: '✔', says: 'The sale on node-N went in before all that had come later.' },
    {
      sign: '✘',
      says: 'N sales went first that had come later, one after the other, and nothing bounds how many more.',
    },
  ],
  overtaking: [
    { sign: '✔', says: 'They entered in the order in which they had asked.' },
    { sign: '✘', says: 'N of N were overtaken: they entered in the order N N N N N N N N N N' },
  ],
  'frozen-master': [
    { sign: '✔', says: 'Sales went on with N of N masters stopped: N more for each, the slowest took N.' },
  ],
  'late-votes': [{ sign: '✔', says: 'node-N did not enter on votes that came N late: it was refused after N.' }],
  amnesia: [
    {
      sign: '✘',
      says: 'The master that had forgotten voted a second time: others sold N units while sale N was inside. The stock is N instead of N at most.',
    },
  ],
  'clock-jump': [
    { sign: '✔', says: 'Nobody got in, and no sale was lost.', of: withoutEnd },
    { sign: '✔', says: 'N units were sold while sale N was inside, and its late write undid none of them.' },
    {
      sign: '✘',
      says: 'The lease was over by the clock of master N alone: N units were sold while sale N was inside. The stock is N instead of N at most.',
      of: ['redlock'],
    },
    {
      sign: '✘',
      says: 'The lease was over by the clock of Redis alone: N units were sold while sale N was inside. The stock is N instead of N at most.',
    },
  ],
};

/** What reasons have in common, whatever was measured. */
export const withoutFigures = (reason: string) => reason.replace(/\d[\d,.]*( m?s\b)?/g, 'N');
