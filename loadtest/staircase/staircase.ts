import { type Backend, backendOf, locks, numberOf, strategies } from '../../locks/index.ts';
import type { StackOptions } from '../../scripts/stack/stack.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { DrillResult, Results, StepFigures } from '../evidence/results.ts';
import { guardStaircase } from './guards.ts';
import { keyStaircase } from './keys.ts';

/** Rows by columns, and the signs that are drawn where they meet. No two staircases share the name of a row or a column. */
export interface Staircase {
  /** What stands above it. */
  title: string;
  /** What a row is, in one word. */
  rowWord: string;
  /** In their order, from left to right. */
  columns: Record<string, Column>;
  /** In their order, from top to bottom. */
  rows: Record<string, Row>;
  /** What is said of the rows that hold in every column, and of no other: a clause, before their names. */
  praise?: string;
}

/** A row of a staircase. */
export interface Row {
  /** Its heading. */
  title: string;
  /** Its name in a table, where the name alone says too much. */
  short?: string;
  /** A sign for each column, in their order: ✔ holds, ✘ fails, a blank is left to the measurement, – has nothing to break. */
  signs: string;
  /** The row that it is set beside: what that one fails and this one holds, this one fixes. */
  before?: string | undefined;
  /** The file that tells its story in its first lines, from the project's folder. */
  story?: string;
  /** A story leaves it out, unless it is named. */
  isAside?: boolean;
  /** The servers that it needs. */
  backends: Backend[];
  /** What its nodes are started with. Rows with stacks of the same name share them. */
  stack?: { name: string; options: StackOptions };
}

/** A column of a staircase. */
export interface Column {
  /** The question that the drill asks. */
  asks: string;
  /**
   * What is taught for the stages from 0 to 8: ✔ holds, ✘ fails, a blank is left to the measurement. – says that the stage
   * has nothing that the drill could break. Absent when no stage has.
   */
  picture?: string;
  /** About how long one cell takes, in seconds, for the time left that a run tells. */
  seconds: number;
  /** The figure that says most about a cell of a drill that goes step by step, in two or three words. */
  figure?: (figures: StepFigures) => string | undefined;
}

const lost = ({ lostUpdates, overlaps = 0, keptOutMs }: StepFigures) => {
  if (lostUpdates) return `${formatNumber(lostUpdates)} lost`;
  if (overlaps) return countOf(overlaps, 'overlap');
  return keptOutMs === undefined ? '0 lost' : `waited ${formatDuration(keptOutMs)}`;
};
const met = ({ overlaps = 0, keptOutMs }: StepFigures) =>
  keptOutMs === undefined || overlaps > 0 ? countOf(overlaps, 'overlap') : `waited ${formatDuration(keptOutMs)}`;
const within = (name: string) => (figures: StepFigures) => {
  const ms = figures[name];
  return ms === undefined ? undefined : formatDuration(ms);
};

/** How many drills that go step by step run at the same time: they mostly wait. */
export const STEP_WORKERS = 3;

/** The columns of the staircase of the locks, in its order. */
export const drills: Record<string, Column> = {
  'one-node-rush': { asks: 'does one node alone lose sales?', picture: '✘✔✔✔✔✔✔✔✔', seconds: 2 },
  rush: { asks: 'do two nodes together lose sales?', picture: '✘✘✔✔✔✔✔✔✔', seconds: 2 },
  'sell-out': { asks: 'is more sold than there is?', picture: '✘✘✔✔✔✔✔✔✔', seconds: 2 },
  'long-wait': {
    asks: 'does waiting cost memory?',
    picture: '––✘✔✔✔✔✔✔',
    seconds: 4,
    figure: ({ bytesPerTry }) => (bytesPerTry === undefined ? undefined : `${formatNumber(bytesPerTry)} B a try`),
  },
  'crashed-holder': {
    asks: 'does the shop sell again after a holder has crashed?',
    picture: '   ✘✔✔✔✔✔',
    seconds: 3,
    figure: ({ takeoverMs, keptOutMs = 0 }) =>
      takeoverMs === undefined ? `none in ${formatDuration(keptOutMs)}` : `after ${formatDuration(takeoverMs)}`,
  },
  'slow-holder': {
    asks: 'does a holder that was too slow harm the holders after it?',
    picture: '    ✘✔✔✔✔',
    seconds: 4,
    figure: ({ overlaps = 0, keptOutMs }) =>
      keptOutMs === undefined ? `${formatNumber(overlaps)} others met` : `waited ${formatDuration(keptOutMs)}`,
  },
  'late-release': {
    asks: 'does a release that arrives late free the lock of another holder?',
    picture: '––   ✘✔✔✔',
    seconds: 3,
    figure: met,
  },
  'nested-call': {
    asks: 'may a holder ask for its own lock again?',
    picture: '      ✘✔✔',
    seconds: 2,
    figure: within('answeredMs'),
  },
  'long-sale': {
    asks: 'does a sale keep its lock when it takes longer than the lease?',
    picture: '       ✘✔',
    seconds: 6,
    figure: lost,
  },
  'paused-process': {
    asks: 'is a sale lost when a holder is paused and wakes up late?',
    picture: '        ✘',
    seconds: 3,
    figure: lost,
  },
  'late-write': {
    asks: 'is a sale lost when a write arrives after the lease has ended?',
    picture: '        ✘',
    seconds: 3,
    figure: lost,
  },
  failover: {
    asks: 'is a sale lost when Redis fails over to a replica that never heard of the lock?',
    picture: '        ✘',
    seconds: 3,
    figure: lost,
  },
  'redis-outage': {
    asks: 'are all buyers answered when Redis is away, and is no sale lost?',
    picture: '        ✔',
    seconds: 9,
    figure: ({ lostUpdates = 0, backMs }) => {
      if (lostUpdates > 0) return `${formatNumber(lostUpdates)} lost`;
      return backMs === undefined ? 'not back' : `back in ${formatDuration(backMs)}`;
    },
  },
  'client-gone': {
    asks: 'do clients that hung up still wait for the lock?',
    picture: '–✔✔✔✔✔✔✔✔',
    seconds: 1,
    figure: within('emptyMs'),
  },
  'frozen-master': {
    asks: 'do sales go on at the usual pace when one or two of the masters that vote stand still?',
    seconds: 2,
    figure: ({ costMs }) => (costMs === undefined ? undefined : `${formatDuration(costMs)} more`),
  },
  'late-votes': {
    asks: 'does a holder enter on votes that reach it when its lease is over?',
    seconds: 3,
    figure: lost,
  },
  amnesia: {
    asks: 'does another get in when a master that has voted restarts empty?',
    seconds: 2,
    figure: lost,
  },
};

/** The rows beyond stage 8: a sign for each column, in their order. */
export const beyondRows: Record<string, string> = {
  blocking: '✔✔✔–✔✔✔✔✔✘✘✘✔✔–––',
  fair: '✔✔✔–✔✔✔✔✔✘✘✘✔✔–––',
  cohort: '✔✔✔–✔✔✔✔✔✘✘✘✔✔–––',
  fenced: '✔✔✔✔✔✔✔✔✔✔✔✘✔✔–––',
  redlock: '✔✔✔✔✔✔✔✔✔✔✘✔✔✔✔✔✘',
  zookeeper: '✔✔✔–✔✔–✔✔✔✔✔✔✔–––',
  'mysql-lock-table': '✔✔✔–✔✔–✔✔✔✘✔✔✔–––',
  'mysql-named': '✔✔✔–✔✔–✔✔✔✘✔✔✔–––',
  'mysql-pessimistic': '✔✔✔–✔✔––✔✔–––✔–––',
  'mysql-optimistic': '✔✔✔–✔–––✔✔–––––––',
  'mysql-conditional': '✔✔✔–✔–––✔✔–––––––',
  'redis-atomic': '✔✔✔–✔–––✔✔✔✔✔––––',
};

/** The locks: the staircase of the course. */
export const lockStaircase: Staircase = {
  title: 'The staircase',
  rowWord: 'stage',
  columns: drills,
  rows: Object.fromEntries(Object.keys(strategies).map((name) => [name, lockRow(name)])),
};

/** Every staircase that a run may show. */
export const staircases = [lockStaircase, guardStaircase, keyStaircase];

function lockRow(name: string): Row {
  const number = numberOf(name);
  const names = Object.keys(locks);
  const signs = Object.values(drills).map(({ picture = '–'.repeat(names.length) }) => picture[number ?? 0]);
  return {
    title: number === null ? `Beyond · ${name}` : `Stage ${number} · ${name.replace(/^\d+-/, '')}`,
    ...(number !== null && { short: String(number) }),
    signs: number === null ? (beyondRows[name] ?? '') : signs.join(''),
    // What is beyond the stages comes after the last of them.
    before: names[(number ?? names.length) - 1],
    story: `locks/${number === null ? 'beyond/' : ''}${name}.ts`,
    backends: [backendOf(name)],
  };
}

/** True for a lock that is none of ours: nothing is taught of it. */
export function isExternal(row: string): boolean {
  return rowOf(row) === undefined;
}

/** The row of this name. Undefined for a lock that is none of ours. */
export function rowOf(name: string): Row | undefined {
  const { rows } = staircaseOf(name);
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** The staircase that this row is in. A lock that is none of ours stands among the locks. */
export function staircaseOf(row: string): Staircase {
  return staircases.find(({ rows }) => Object.hasOwn(rows, row)) ?? lockStaircase;
}

/** The column of this name, in whichever staircase. Undefined when there is none. */
export function columnOf(drill: string): Column | undefined {
  return staircases.find(({ columns }) => Object.hasOwn(columns, drill))?.columns[drill];
}

/** The names of the columns of a staircase: of the one that has this column. */
export function columnsWith(drill: string): string[] {
  const { columns } = staircases.find(({ columns }) => Object.hasOwn(columns, drill)) ?? lockStaircase;
  return Object.keys(columns);
}

/** The names of all columns, staircase after staircase. */
export const columnNames: string[] = staircases.flatMap(({ columns }) => Object.keys(columns));

/** What the staircase says of a cell: null where it is left to the measurement. */
export function taughtVerdict(row: string, drill: string): 'pass' | 'fail' | null {
  const sign = signOf(row, drill);
  if (sign === '✔') return 'pass';
  return sign === '✘' ? 'fail' : null;
}

/** True where the row has nothing that the drill could break. */
export function hasNothingToBreak(row: string, drill: string): boolean {
  return signOf(row, drill) === '–';
}

function signOf(row: string, drill: string) {
  // What can break no stage asks for several masters, which a lock that is none of ours is not given.
  if (isExternal(row)) return columnOf(drill)?.picture === undefined ? '–' : ' ';
  return rowOf(row)?.signs[Object.keys(staircaseOf(row).columns).indexOf(drill)];
}

/**
 * The verdict on a run: as taught when every cell that the staircase draws came out as drawn. Cells that it leaves to the
 * measurement decide nothing; one that is unknown is named all the same.
 */
export function judgeRun(stages: Results['stages'], leftOut: string[]): Pick<Results, 'verdict' | 'verdictReasons'> {
  const cells = stages.flatMap(({ stage, drills }) => drills.map((drill) => ({ stage, ...drill })));
  const notAsTaught = cells.filter((cell) => isSettled(cell) && cell.taught !== null && cell.verdict !== cell.taught);
  const unknown = cells.filter((cell) => cell.verdict === 'unknown');
  const hasRun = cells.some((cell) => cell.verdict !== 'not-applicable');

  const verdictReasons = [
    ...notAsTaught.map(
      ({ stage, drill, verdict, taught }) => `${stage} ${drill}: ${verdict}, but ${taught} is taught.`,
    ),
    ...unknown.map(({ stage, drill, reasons }) => `${stage} ${drill}: unknown. ${reasons.join(' ')}`),
    ...(leftOut.length > 0 ? [`The run was cut short: ${countOf(leftOut.length, 'cell')} left out.`] : []),
    ...(hasRun ? [] : ['No drill was run.']),
  ];
  if (notAsTaught.length > 0) return { verdict: 'not-as-taught', verdictReasons };
  const isAsDrawn = hasRun && leftOut.length === 0 && unknown.every(({ taught }) => taught === null);
  return { verdict: isAsDrawn ? 'as-taught' : 'unknown', verdictReasons };
}

function isSettled({ verdict }: DrillResult) {
  return verdict === 'pass' || verdict === 'fail';
}
