// Every word that the live page shows of its own, in English: another language is another file of this shape.

import { formatNumber, formatSeconds, listOf } from '../loadtest/evidence/numbers.ts';
import type { Verdict } from '../loadtest/evidence/results.ts';
import type { Act, Line, NodeView, Part, Play, StackView } from './contract.ts';

/** A sale by the node that makes it. */
interface SaleName {
  node: string;
  saleId: string;
}

const sale = ({ node, saleId }: SaleName) => `sale ${saleId} on ${node}`;

const inside = (sales: string[]) =>
  sales.length === 1 ? `sale ${sales[0]} is inside` : `${formatNumber(sales.length)} sales are inside`;

const verdicts: Record<Verdict, { sign: string; word: string }> = {
  pass: { sign: '✔', word: 'holds' },
  fail: { sign: '✘', word: 'fails' },
  unknown: { sign: '?', word: 'unknown' },
  'not-applicable': { sign: '–', word: 'not applicable' },
};

const partStates: Record<Part['is'], string> = { up: 'up', stopped: 'stopped', dead: 'dead', cut: 'cut off' };

const lineStates: Record<Line['is'], string> = { open: 'open', cut: 'cut', slow: 'slow' };

export const texts = {
  title: 'Lockstep',
  number: formatNumber,

  line: {
    connecting: 'The page asks the server for the first picture.',
    broken: 'The line to the server is broken. The page tries again every two seconds; what it shows may be old.',
    noToken:
      'This address lacks its token. Open the address that npm run live has printed, with all that follows the #.',
  },

  orders: {
    notSent: 'The order has not reached the server.',
    refused: (status: number) => `The server has refused the order, with status ${status}.`,
    dismiss: 'Close',
  },

  controls: {
    name: 'Choose and play',
    stage: 'Stage',
    drill: 'Drill',
    beside: 'beside the stage before',
    play: 'Play',
    stepwise: 'Step by step',
    next: 'Next',
    nextKey: 'space',
    runOn: 'Run on',
    stop: 'Stop',
    free: 'Free play',
    endFree: 'End free play',
    scheduler: 'Scheduler',
    stack: 'Back to the stack',
    save: 'Save',
    /** A drill among those that can be chosen; with a sign for what is taught, once it ran. */
    drillOption: (name: string, taught: 'pass' | 'fail' | null | undefined) =>
      taught === undefined || taught === null ? name : `${verdicts[taught].sign} ${name}`,
    drillsOf: (title: string) => `Drills under ${title}`,
    taught: (verdict: 'pass' | 'fail' | null) =>
      verdict === null ? 'taught: left open' : `taught: ${verdicts[verdict].sign} ${verdicts[verdict].word}`,
  },

  play: {
    starting: 'The servers are starting.',
    ready: 'Ready.',
    playing: 'The drill is playing.',
    waiting: 'Waits for you.',
    free: 'Free play: break what you like.',
    stopping: 'The stack is put back.',
    over: 'The page is closed.',
  } satisfies Record<Play['is'], string>,

  parts: partStates,

  picture: {
    name: 'The stack',
    buyers: 'buyers',
    /** Who is inside a node, by name. */
    inside: (sales: string[]) => {
      if (sales.length === 0) return 'nobody inside';
      return sales.length === 1
        ? `sale ${sales[0]} inside`
        : `${formatNumber(sales.length)} inside: ${sales.join(', ')}`;
    },
    /** Who is inside, for little room: of several only the number. */
    insideInShort: (sales: string[]) =>
      sales.length === 1 ? `sale ${sales[0]}` : `${formatNumber(sales.length)} inside`,
    waiting: (count: number) => (count === 1 ? '1 waits' : `${formatNumber(count)} wait`),
    lock: 'lock',
    lockOfMasters: 'most masters say',
    noLock: 'no lock taken',
    token: (token: string) => `token ${token}`,
    leaseLeft: (ms: number) => `${(ms / 1000).toFixed(1)} s`,
    leaseOver: 'over',
    leaseWithoutEnd: 'no end',
    stock: 'in stock',
    answersSay: 'answers say',
    line: lineStates,
    /** What stands over the name of a command that is held on its way. */
    onLine: (is: Line['is']) => (is === 'open' ? 'held' : `held, ${lineStates[is]}`),
    /** The picture in sentences, for a reader who can't see it. */
    describe: ({
      parts,
      lines,
      nodes,
      lock,
      stock,
    }: Pick<StackView, 'parts' | 'lines' | 'nodes' | 'lock' | 'stock'>) => {
      const partWords = parts.map(({ name, is }) => `${name} is ${partStates[is]}`);
      const nodeWords = nodes.map(
        ({ name, waiting, inside: sales }: NodeView) =>
          `on ${name} ${sales.length === 0 ? 'nobody is inside' : inside(sales)} and ${formatNumber(waiting)} wait`,
      );
      const lineWords = lines.flatMap(({ from, to, is, held }) => [
        ...(is === 'open' ? [] : [`the line from ${from} to ${to} is ${lineStates[is]}`]),
        ...(held === undefined ? [] : [`${held} from ${from} to ${to} is held on its way`]),
      ]);
      const lockWords =
        lock === null
          ? 'no lock is taken'
          : `the lock is that of ${lock.holder}${lock.fencingToken === undefined ? '' : ` with token ${lock.fencingToken}`}`;
      const stockWords =
        stock === null
          ? []
          : [`${formatNumber(stock.actual)} in stock, and the answers say ${formatNumber(stock.expected)}`];
      return `The stack: ${[...partWords, ...nodeWords, ...lineWords, lockWords, ...stockWords].join('; ')}.`;
    },
  },

  timeline: {
    name: (title: string) => `Timeline of ${title}`,
    keys: '← → go from event to event, ↑ ↓ from sale to sale.',
    empty: 'The timeline begins with the first sale.',
    freeze: 'Freeze',
    follow: 'Follow again',
    frozen: 'Frozen: the drill goes on.',
    title: (drill: string | null, stage: string) => `${drill ?? 'free play'} under ${stage}`,
    /** What became of a sale, in a sentence. */
    story: (
      name: SaleName,
      of: {
        askedMs: number;
        enteredMs?: number | undefined;
        read?: number | undefined;
        wrote?: number | undefined;
        leftMs?: number | undefined;
        gaveUpMs?: number | undefined;
      },
    ) => {
      const words = [`asked at ${formatSeconds(of.askedMs)}`];
      if (of.enteredMs !== undefined) words.push(`entered at ${formatSeconds(of.enteredMs)}`);
      if (of.read !== undefined) words.push(`read ${formatNumber(of.read)}`);
      if (of.wrote !== undefined) words.push(`wrote ${formatNumber(of.wrote)}`);
      if (of.leftMs !== undefined) words.push(`left at ${formatSeconds(of.leftMs)}`);
      else if (of.gaveUpMs !== undefined) words.push(`ended at ${formatSeconds(of.gaveUpMs)} without entering`);
      else words.push(of.enteredMs === undefined ? 'has not entered' : 'has not been seen to leave');
      return `Sale ${name.saleId} on ${name.node} ${listOf(words)}.`;
    },
    /** An event with its moment, in a sentence. */
    at: (ms: number, words: string) => `${formatSeconds(ms)}: ${words}.`,
    events: {
      asked: (name: SaleName) => `${sale(name)} asks for the lock`,
      entered: (name: SaleName) => `${sale(name)} enters`,
      read: (name: SaleName, stock: number) => `${sale(name)} reads stock ${formatNumber(stock)}`,
      wrote: (name: SaleName, stock: number) => `${sale(name)} writes stock ${formatNumber(stock)}`,
      left: (name: SaleName) => `${sale(name)} leaves`,
      gaveUp: (name: SaleName) => `${sale(name)} ends without having entered`,
      leaseBegan: (name: SaleName) => `the lock is in Redis in the name of ${sale(name)}`,
      leaseEnded: (name: SaleName) => `the lock of ${sale(name)} is in Redis no more`,
      fault: (fault: string) => fault,
      faultOver: (fault: string) => `${fault} (over)`,
      overlap: (first: SaleName, second: SaleName) => `${sale(first)} and ${sale(second)} are both inside`,
    },
    /** A fault by what it hits. */
    fault: ({ node, saleId, label }: { node?: string | undefined; saleId?: string | undefined; label: string }) => {
      if (node === undefined) return label;
      return saleId === undefined ? `${node}: ${label}` : `${sale({ node, saleId })}: ${label}`;
    },
  },

  verdict: {
    name: 'Verdict',
    ...verdicts,
    /** How a verdict compares with what is taught; nothing where that is open, or the verdict is. */
    compared: (verdict: Verdict, taught: 'pass' | 'fail' | null) => {
      if (taught === null || (verdict !== 'pass' && verdict !== 'fail')) return '';
      return verdict === taught ? ', as taught' : ', NOT as taught';
    },
    witnesses: 'Witnesses',
    witness: (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`,
  },

  tabs: {
    name: 'What to read',
    free: 'Free play',
    predict: 'Predict',
    story: 'Story',
    code: 'Code',
    figures: 'Figures',
  },

  story: {
    name: 'Story',
    empty: 'The story begins with the drill.',
    moment: (ms: number) => `${(ms / 1000).toFixed(2)} s`,
  },

  code: {
    name: (stage: string) => `The code of ${stage}`,
    problem: 'Problem',
    change: 'Change',
    leaves: 'Leaves',
    added: '+',
    removed: '−',
    against: (before: string) => `Lines with + are new, lines with − are gone: compared with ${before}.`,
    missing: 'There is no file to show.',
  },

  free: {
    name: 'Free play',
    whole: 'The stack',
    undo: 'Undo all',
    rush: (count: number) => `Rush of ${formatNumber(count)}`,
    acts: {
      sell: 'Sell',
      rush: 'Rush',
      'hold-sale': 'Hold a sale',
      'hold-release': 'Hold a release',
      'hold-write': 'Hold a write',
      kill: 'Kill',
      stop: 'Stop',
      cut: 'Cut its line',
      block: 'Block its loop',
      'cut-replica': 'Cut off a replica',
      'fail-over': 'Fail over to it',
      empty: 'Empty',
    } satisfies Record<Act, string>,
    /** What undoes it, where it lasts. */
    undoes: {
      'hold-sale': 'Let the sale go',
      'hold-release': 'Let the release go',
      'hold-write': 'Let the write go',
      kill: 'Start',
      stop: 'Go on',
      cut: 'Mend its line',
    } as Partial<Record<Act, string>>,
  },

  saved: {
    name: 'A saved run',
    play: 'Play',
    pause: 'Pause',
    moment: (atMs: number, ofMs: number) => `${(atMs / 1000).toFixed(1)} s of ${(ofMs / 1000).toFixed(1)} s`,
    scrub: 'Moment of the run',
    cut: 'The run was too long to be kept to its end.',
  },

  figures: {
    name: 'Figures',
    none: 'There are no figures yet: only a rush counts its sales.',
    sold: 'sold',
    refused: 'refused',
    inDoubt: 'in doubt',
    lost: 'lost so far',
    perSecond: 'sales a second',
    lostSign: '✘',
  },
};

export type Texts = typeof texts;
