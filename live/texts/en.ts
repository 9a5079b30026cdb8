// Every word that the live page shows of its own, in English: another language is another file of this shape beside it.

import { countOf, formatNumber, formatSeconds, listOf } from '../../loadtest/evidence/numbers.ts';
import type { Timeline, Verdict } from '../../loadtest/evidence/results.ts';
import type { Act, Figures, Line, NodeView, Part, Play, StackView, StockView } from '../contract.ts';
import type {
  Counting,
  Deed,
  GameView,
  Happening,
  HintView,
  Knows,
  LevelChoice,
  LevelScope,
  MoveView,
  ProcessView,
  RedisView,
  Standing,
  StepView,
} from '../puzzle-contract.ts';
import type { QuestionState } from '../room-contract.ts';
import type { WorkshopStep, WorkshopView } from '../workshop-contract.ts';

/** A sale by the node that makes it. */
interface SaleName {
  node: string;
  saleId: string;
}

const sale = ({ node, saleId }: SaleName) => `sale ${saleId} on ${node}`;

const inside = (sales: string[]) =>
  sales.length === 1 ? `sale ${sales[0]} is inside` : `${formatNumber(sales.length)} sales are inside`;

function stockNote(stock: StockView, figures: Figures | null): string {
  if (figures === null) return '';
  const { lost, inDoubt, underWay } = figures;
  const open = inDoubt === 0 ? 'under way' : underWay === 0 ? 'in doubt' : 'unclear';
  return [
    ...(lost > stock.actual - stock.expected ? [`${formatNumber(lost)} lost`] : []),
    ...(inDoubt + underWay > 0 ? [`${formatNumber(inDoubt + underWay)} ${open}`] : []),
  ].join(', ');
}

const verdicts: Record<Verdict | 'broken', { sign: string; word: string }> = {
  pass: { sign: '✔', word: 'holds' },
  fail: { sign: '✘', word: 'fails' },
  unknown: { sign: '?', word: 'unknown' },
  'not-applicable': { sign: '–', word: 'not applicable' },
  broken: { sign: '?', word: "can't be judged yet" },
};

const partStates: Record<Part['is'], string> = { up: 'up', stopped: 'stopped', dead: 'dead', cut: 'cut off' };

const lineStates: Record<Line['is'], string> = { open: 'open', cut: 'cut', slow: 'slow' };

const milliseconds = (ms: number) => `${formatNumber(ms)} ms`;

const unbroken = ', and nothing was broken. Go back, or begin again.';

const faultNames: [fault: keyof GameView['faultsLeft'], one: string, many: string][] = [
  ['pauses', 'pause of a holder', 'pauses of holders'],
  ['delays', 'command held up', 'commands held up'],
  ['crashes', 'holder killed', 'holders killed'],
  ['failovers', 'failover', 'failovers'],
];

/** What a process has done, without its name. */
function deed({ step, stock = 0, why }: Deed): string {
  const words: Record<Deed['step'], string> = {
    entered: 'is inside',
    nested: 'has its own lock once more',
    read: `has read stock ${formatNumber(stock)}`,
    wrote: `has written stock ${formatNumber(stock)}`,
    'put back': `has put a unit back: stock ${formatNumber(stock)}`,
    'sold out': 'finds it sold out',
    left: 'leaves',
    'waits again': 'looks again',
    released: 'has given the lock up',
    failed: `fails: ${why}`,
  };
  return words[step];
}

/** Something that can happen, or has happened. */
function move({ who, happens, chance }: Pick<MoveView, 'who' | 'happens' | 'chance'>): string {
  return `${happening(who, happens)}${chance === undefined ? '' : `, and Math.random() is ${chance}`}`;
}

function happening(who: string, happens: Happening): string {
  switch (happens.is) {
    case 'begins':
      return `${who} begins a sale`;
    case 'command':
      return `${who}'s ${happens.command} reaches Redis`;
    case 'hold up':
      return `${who}'s ${happens.command} is held up on its way`;
    case 'let go':
      return `${who}'s ${happens.command}, held up until now, reaches Redis`;
    case 'timer':
      return `A timer of ${who} fires${happens.sends === null ? '' : `: it sends ${happens.sends}`}`;
    case 'reply':
      return `${who} reads the reply`;
    case 'pause':
      return `${who} is paused`;
    case 'wake':
      return `${who} wakes up`;
    case 'crash':
      return `${who} is killed`;
    case 'failover':
      return 'Redis fails, and its replica has not heard of the last command';
    case 'clock': {
      const { leaseOf, timersOf, pausesOf, commandsOf, ms } = happens;
      const brings = [
        ...leaseOf.map((name) => `the lease of ${name ?? 'the lock'} ends`),
        ...timersOf.map((name) => `a timer of ${name} is due`),
        ...pausesOf.map((name) => `the pause of ${name} ends`),
        ...commandsOf.map((name) => `the command of ${name} goes on`),
      ];
      const passes = `${milliseconds(ms)} pass`;
      return brings.length === 0 ? passes : `${capital(listOf(brings))}: ${passes}`;
    }
  }
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** An answer is named as on the slides. */
const letterOf = (place: number) => 'ABCD'.charAt(place);

export const texts = {
  title: 'Lockstep',
  number: formatNumber,

  line: {
    connecting: 'The page asks the server for the first picture.',
    broken: 'The line to the server is broken. The page tries again; what it shows may be old.',
    noToken: 'This address lacks its token. Open the whole address that npm run live has printed.',
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
  },

  /** Over a stack: `isPast` while something else is chosen or asked already. */
  heading: (stage: string, drill: string | null, isPast: boolean) =>
    `${isPast ? 'Still shown: ' : ''}${stage}${drill === null ? '' : ` · ${drill}`}`,

  play: {
    starting: 'The servers are starting.',
    ready: 'Ready.',
    playing: 'The drill is playing.',
    waiting: 'Waits for you.',
    free: 'Free play: break what you like.',
    stopping: 'The stack is put back.',
    over: 'The live page has ended: this is its last picture.',
  } satisfies Record<Play['is'], string>,

  parts: partStates,

  picture: {
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
    lockOfMasters: 'majority says',
    noLock: 'no lock taken',
    nodeLock: 'own lock',
    token: (token: string) => `token ${token}`,
    leaseLeft: (ms: number) => `${(ms / 1000).toFixed(1)} s`,
    leaseOver: 'over',
    leaseWithoutEnd: 'no end',
    stock: 'in stock',
    expected: 'expected',
    /** What the two numbers do not say: how many are lost for sure where that is more, and how many more may have been sold. */
    stockNote,
    line: lineStates,
    /** What stands over the name of a command that is held on its way. */
    onLine: (is: Line['is']) => (is === 'open' ? 'held' : `held, line ${lineStates[is]}`),
    /** The picture in sentences, for a reader who can't see it. */
    describe: ({
      parts,
      lines,
      nodes,
      hasNodeLocks,
      lock,
      stock,
      figures,
    }: Pick<StackView, 'parts' | 'lines' | 'nodes' | 'hasNodeLocks' | 'lock' | 'stock' | 'figures'>) => {
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
          ? hasNodeLocks
            ? 'each node has a lock of its own'
            : 'no lock is taken'
          : `the lock is that of ${lock.holder}${lock.fencingToken === undefined ? '' : ` with token ${lock.fencingToken}`}`;
      const stockWords =
        stock === null
          ? []
          : [
              `${formatNumber(stock.actual)} in stock, and ${formatNumber(stock.expected)} expected`,
              stockNote(stock, figures),
            ];
      return `The stack: ${[...partWords, ...nodeWords, ...lineWords, lockWords, ...stockWords].filter(Boolean).join('; ')}.`;
    },
  },

  timeline: {
    name: (title: string) => `Timeline of ${title}`,
    keys: '← → go from event to event, ↑ ↓ from sale to sale.',
    empty: 'The timeline begins with the first sale.',
    waiting: 'The step waits, the servers do not: a lease may run out.',
    title: (drill: string | null, stage: string) => `${drill ?? 'free play'} under ${stage}`,
    /** What became of a sale, in a sentence. */
    story: (lane: Timeline['lanes'][number], { leftMs, gaveUpMs }: { leftMs?: number; gaveUpMs?: number }) => {
      const { askedMs, inside, read, wrote } = lane;
      const words = [`asked at ${formatSeconds(askedMs)}`];
      if (inside) words.push(`entered at ${formatSeconds(inside.fromMs)}`);
      if (read) words.push(`read ${formatNumber(read.stock)}`);
      if (wrote) words.push(`wrote ${formatNumber(wrote.stock)}`);
      if (leftMs !== undefined) words.push(`left at ${formatSeconds(leftMs)}`);
      else if (gaveUpMs !== undefined) words.push(`ended at ${formatSeconds(gaveUpMs)} without entering`);
      else words.push(inside ? 'has not been seen to leave' : 'has not entered');
      return `${capital(sale(lane))} ${listOf(words)}.`;
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
    ...verdicts,
    /** How a verdict compares with what is taught; nothing where that is open, or the verdict is. */
    compared: (verdict: Verdict | 'broken', taught: 'pass' | 'fail' | null) => {
      if (taught === null || (verdict !== 'pass' && verdict !== 'fail')) return '';
      return verdict === taught ? ', as expected' : ', NOT as expected';
    },
    witnesses: 'Witnesses',
    witness: (words: string) => `${capital(words)}${/[.!?]$/.test(words) ? '' : '.'}`,
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
    rush: 'A rush has no steps: its figures tell it.',
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

  figures: {
    none: 'There are no figures yet: only a rush counts its sales.',
    sold: 'sold',
    refused: 'refused',
    inDoubt: 'in doubt',
    lost: 'lost',
    lostSoFar: 'lost so far',
    noAnswer: 'no answer',
    lostSign: '✘',
  },

  /** Around a prediction. */
  room: {
    heading: 'Predict',
    /** What is going on, in a word for the presenter. */
    states: {
      open: 'Votes are open.',
      closed: 'Votes are closed.',
      revealed: 'This is the answer.',
    } satisfies Record<QuestionState, string>,
    ask: 'Ask the question',
    closeVotes: 'Close the votes',
    reveal: 'Show the answer',
    forget: 'Take the question away',
    hideBars: 'Hide the bars',
    showBars: 'Show the bars',
    followAt: 'Follow and vote:',
    notShared: 'Shared with nobody: npm run live -- --share lets a room vote.',
    right: 'right',
    prediction: 'predicted here',
    predictAlone: 'What will happen? Say it before you play it.',
    followerWaits: 'The next question appears here.',
    chooseOne: 'What will happen? You may change your mind until the votes are closed.',
    chosen: 'you said this',
    saidNothing: 'You did not vote.',
    wasRight: 'You were right.',
    said: (letter: string) => `You said ${letter}.`,
    isRight: (letter: string) => `${letter} is right.`,
    otherwise: 'This time the drill came out otherwise than the course says.',
    notPlayedYet: 'The drill has not been played to its end yet.',
    voteFailed: 'Your vote did not arrive. Try again.',
    nothingToAsk: (drills: string[]) =>
      drills.length === 0
        ? 'There is no question about this stage.'
        : `There is no question about this drill. Under this stage ask about ${drills.join(', ')}.`,
    follow: (followers: number) => `${countOf(followers, 'phone follows', 'phones follow')}.`,
    // Of those that voted some have left.
    voted: (voted: number, followers: number) => `${voted} of ${Math.max(voted, followers)} have voted.`,
    votes: (votes: number) => countOf(votes, 'vote'),
    answer: (place: number, votes: number, voted: number) =>
      `Answer ${letterOf(place)}: ${votes} of ${countOf(voted, 'vote')}`,
    predict: (place: number) => `Predict answer ${letterOf(place)}`,
    letter: letterOf,
    happened: (verdict: Verdict, sentence: string) => {
      const held = { pass: '✔ The lock held.', fail: '✘ The lock failed.', unknown: '', 'not-applicable': '' }[verdict];
      return `${held || '? It could not be told.'} ${sentence}`;
    },
  },

  /** The workshop that runs beside the page. */
  workshop: {
    name: 'Workshop',
    title: (number: number, title: string) => `Exercise ${number}: ${title}`,
    /** The letter of an answer, by its place. */
    answer: (place: number) => String.fromCharCode(97 + place),
    mark: (isChosen: boolean, isRight: boolean) =>
      listOf([...(isChosen ? ['(predicted)'] : []), ...(isRight ? ['(✔ right)'] : [])]),
    states: {
      asked: 'The question is open: no verdict before it is answered.',
      judging: 'The search looks at every order of events.',
      running: 'Real servers play the drills.',
      'not judged': 'Not judged yet.',
      'to run': 'The search alone does not decide: the real servers do.',
      'not solved': 'Not solved yet.',
      solved: 'Solved.',
    } satisfies Record<WorkshopView['is'], string>,
    reason: (drill: string | null, reason: string) =>
      drill === null ? reason : `On real servers, ${drill}: ${reason}`,
    steps: (scope: string) => `The shortest order that breaks it (${scope})`,
    at: milliseconds,
    step: ({ process, what, again }: WorkshopStep) =>
      `${process}: ${what}${again === undefined ? '' : ` … and ${countOf(again.times, 'time')} more, until ${milliseconds(again.until)}`}`,
    came: ({ process, came }: WorkshopStep) => (came === undefined ? '' : `${process} ${came}`),
  },

  /** "You are the scheduler". */
  puzzle: {
    title: 'You are the scheduler',
    explain:
      'The lock is its real file, on a real server. Nothing happens until you choose it: which command arrives next, when the lease ends, and who is paused.',
    level: 'Level',
    choose: 'Choose a level',
    opening: (level: string) => `${level} is being opened.`,
    levelOption: ({ title, scope }: LevelChoice) => `${title}: ${scope}`,
    sales: (processes: number) => `${formatNumber(processes)} processes make a sale each.`,
    goal: 'Try to:',
    /** What must be reached in a level, by its scope. */
    goals: {
      plain: 'Put two inside, or lose a sale.',
      'crashed-holder': 'Kill a holder so that nobody enters any more.',
      'nested-call': 'Make A wait for the lock that it holds itself.',
      'slow-holder': 'Let one delete the lock of another that is inside: a holder may be paused.',
      'late-release': 'Let a release arrive so late that it deletes the lock of another.',
      'long-sale': 'Put two inside: each sale takes two and a half leases.',
      'paused-process': 'Lose a sale: a holder may be paused.',
      'late-write': 'Lose a sale: a write may be held up until another sale has written.',
      failover: 'Put two inside: Redis may be replaced by a replica that lacks the last command.',
    } satisfies Record<LevelScope, string>,
    counts: 'What counts',
    /** Everything that counts as reached. */
    counting: {
      alone: 'Two are inside at the same time.',
      'alone within leases': 'Two are inside at the same time, and the leases of both run.',
      untouched: 'One changes the lock of another that is inside and within its lease.',
      'no lost sale': 'At the end the stock is higher than the sales say.',
      'soon after a crash': 'Two leases after a crash nobody has entered, and somebody waits.',
      're-entry': 'A waits for its own lock until its lease is over.',
      'no deadlock': 'All wait for each other.',
      'no wait for a free lock': 'Somebody waits, and the lock is free.',
      'same stock': 'One that only looks sees two different stocks.',
      'all sell': 'A sale fails.',
      'nothing left': 'All is over, and a timer or a key of the lock is left.',
      'nobody waits for ever': 'Somebody waits for ever.',
    } satisfies Record<Counting, string>,
    clockRule: 'The clock goes on when nobody can do anything before. A paused process may wait.',
    /** What may still go wrong, and how often. */
    faults: (left: GameView['faultsLeft']) => {
      const words = faultNames.flatMap(([fault, one, many]) => {
        const times = left[fault];
        return times > 0 ? [countOf(times, one, many)] : [];
      });
      return `What may still go wrong: ${words.length === 0 ? 'nothing' : `at most ${listOf(words)}`}.`;
    },

    buttons: {
      undo: 'Undo',
      again: 'Again',
      hint: 'Hint',
      close: 'Close the level',
      goOn: 'Go on',
      goOnMeans: 'Goes on while only one thing can happen',
    },

    knows: (knows: Knows) => {
      switch (knows.is) {
        case 'searching':
          return 'The search looks at every order.';
        case 'can':
          return `The search knows: it can be done, in ${countOf(knows.steps, 'step')} at best.`;
        case 'holds':
          return `The search knows: all ${knows.orders} orders, none does it (${countOf(knows.states, 'state')}).`;
        case 'unknown':
          return `The search does not know: ${knows.why}`;
      }
    },

    hint: (hint: HintView) => {
      switch (hint.is) {
        case 'searching':
          return 'The search looks for the shortest way.';
        case 'go back':
          return `From here it can’t be done: go back ${countOf(hint.steps, 'step')}.`;
        case 'impossible':
          return 'There is no hint: no order does it.';
        case 'unknown':
          return `The search knows no way from here: ${hint.why}`;
      }
    },
    hints: (count: number) => (count === 0 ? 'no hint used' : countOf(count, 'hint')),

    standing: (standing: Standing, steps: number, hints: number, knows: Knows) => {
      switch (standing.is) {
        case 'going':
          return '';
        case 'ended':
          return `Every sale has ended${unbroken}`;
        case 'out of time':
          return `The clock of this level ends at ${milliseconds(standing.atMs)}${unbroken}`;
        case 'won': {
          const best = knows.is === 'can' ? ` The shortest way has ${formatNumber(knows.steps)}.` : '';
          const used = hints === 0 ? 'without a hint' : `with ${countOf(hints, 'hint')}`;
          return `Broken: ${standing.reason} It took you ${countOf(steps, 'step')}, ${used}.${best}`;
        }
      }
    },

    process: {
      name: (name: string) => `Process ${name}`,
      states: {
        'to come': 'has not begun',
        waiting: 'waits',
        inside: 'is inside',
        leaving: 'is leaving',
        over: 'is done',
        killed: 'is killed',
      } satisfies Record<ProcessView['is'], string>,
      away: { paused: 'paused', 'held up': 'command held up' } satisfies Record<
        NonNullable<ProcessView['away']>,
        string
      >,
      hasLock: 'Redis says: its lock',
      insideWithoutLock: 'without the lock',
      onItsWay: (command: string) => `on its way: ${command}`,
      timer: (inMs: number) => (inMs === 0 ? 'a timer is due' : `a timer in ${milliseconds(inMs)}`),
      nothingYet: 'It has done nothing yet.',
      deed,
    },

    redis: {
      name: 'Redis and the clock',
      clock: (atMs: number) => `clock ${milliseconds(atMs)}`,
      noLock: 'The lock is free.',
      lock: ({ holder, value }: NonNullable<RedisView['lock']>) =>
        holder === null ? `lock: ${value}` : `lock of ${holder}: ${value}`,
      lease: 'The lease that is left',
      left: (leftMs: number | null) => (leftMs === null ? 'without an end' : `${milliseconds(leftMs)} left`),
      stock: (stock: number) => `stock ${formatNumber(stock)}`,
      expected: ({ stock, expected }: RedisView) =>
        stock === expected ? 'as the sales say' : `the sales say ${formatNumber(expected)}`,
      other: ({ key, value }: RedisView['others'][number]) => `${key}: ${value}`,
    },

    moves: (who: string) => `What can happen next: ${who}`,
    move,
    steps: {
      name: (count: number) => (count === 0 ? 'Steps so far' : `Steps so far: ${formatNumber(count)}`),
      none: 'Nothing has happened yet.',
      at: milliseconds,
      /** A step as one sentence. */
      sentence: (step: StepView) => {
        const reply = step.reply === undefined ? '' : ` → ${step.reply}`;
        const came = step.came.length === 0 ? '' : ` ${step.who} ${step.came.map(deed).join(', ')}.`;
        return `${move(step)}${reply}.${came}`;
      },
    },
  },
};

/** The words of a saved run: they come with its file. */
export const savedTexts = {
  name: 'A saved run',
  play: 'Play',
  pause: 'Pause',
  moment: (atMs: number, ofMs: number) => `${(atMs / 1000).toFixed(1)} s of ${(ofMs / 1000).toFixed(1)} s`,
  /** When it was played. */
  played: (at: Date) => at.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' }),
  beside: (stages: string[]) => listOf(stages),
  scrub: 'Moment of the run',
  cut: 'The run was too long to be kept to its end.',
};

export type Texts = typeof texts;
