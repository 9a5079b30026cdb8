// Growth: the same sales over more connections, and on more nodes.

import { formatMeasure, formatNumber } from '../narration/numbers.ts';
import { type Contestant, nameOnAnyNodes, onNodes } from './contestants.ts';
import { type Figure, spreadOver } from './figures.ts';
import type { BenchResults } from './results.ts';
import type { Sheet } from './table.ts';

/** The defaults of `npm run bench -- --grow`. */
export const usualGrowth = {
  under: ['8-auto-renew', 'blocking', 'cohort', 'combine'],
  connections: [10, 100, 500, 1_000],
  nodes: [2, 4, 8],
};
/** More nodes sell over so many connections, where that is one of the numbers. */
const CONNECTIONS_OF_NODES = 100;
const FEWEST_NODES = 2;

/** A figure of each lock as something grows. */
export interface Growth {
  title: string;
  /** What grows, and how far. */
  axis: string;
  at: number[];
  /** It may differ by a factor of a hundred. */
  isLogarithmic: boolean;
  format: (value: number) => string;
  /** NaN where nothing was measured. */
  lines: { name: string; values: number[] }[];
}

/** Each contestant at every number of connections, and once more on more nodes, at one of these numbers. */
export function growing(chosen: Contestant[], counts: number[], connections: number[]): Contestant[] {
  const more = onNodes(
    chosen,
    counts.filter((count) => count > FEWEST_NODES),
  );
  return [...chosen, ...more.map((each) => ({ ...each, waiters: connectionsOfNodes(connections) }))];
}

/** The charts of a growing run: each value is the median over the rounds. */
export function growthOf({ turns, contestants, settings }: BenchResults): Growth[] {
  const names = [...new Set(contestants.map(({ name }) => nameOnAnyNodes(name)))];
  const { waiters, nodes = [] } = settings;
  const medianOf = (name: string, connections: number, figure: Figure) =>
    spreadOver(turns, name, connections, figure)?.value ?? Number.NaN;
  const overConnections = (figure: Figure) =>
    names.map((name) => ({ name, values: waiters.map((each) => medianOf(name, each, figure)) }));
  const onCount = (name: string, count: number) => (count === FEWEST_NODES ? name : `${name}×${count}`);
  const overNodes = (figure: Figure) =>
    names.map((name) => ({
      name,
      values: nodes.map((count) => medianOf(onCount(name, count), connectionsOfNodes(waiters), figure)),
    }));
  const commands: Figure = ({ commandsPerAcquisition }) => commandsPerAcquisition;
  const asConnections = { axis: 'connections', at: waiters };
  const ofCommands = { isLogarithmic: true, format: formatMeasure };
  const all: Growth[] = [
    {
      title: 'Sales per second',
      ...asConnections,
      isLogarithmic: false,
      format: formatNumber,
      lines: overConnections(({ perSecond }) => perSecond),
    },
    {
      title: 'Redis commands per sale, with all tries',
      ...asConnections,
      ...ofCommands,
      lines: overConnections(commands),
    },
    {
      title: `Redis commands per sale, ${formatNumber(connectionsOfNodes(waiters))} connections`,
      axis: 'nodes',
      at: nodes,
      ...ofCommands,
      lines: overNodes(commands),
    },
  ];
  return all.filter(({ at }) => at.length > 1);
}

/** The same as a table: a lock in each row. */
export function growthSheet({ title, axis, at, format, lines }: Growth): Sheet {
  const rows = lines.map(({ name, values }) => [
    name,
    ...values.map((value) => (Number.isNaN(value) ? '–' : format(value))),
  ]);
  return { title: `${title}, by ${axis}`, head: ['', ...at.map(formatNumber)], rows };
}

const connectionsOfNodes = (connections: number[]) =>
  connections.includes(CONNECTIONS_OF_NODES) ? CONNECTIONS_OF_NODES : Number(connections[0]);
