// The result matrix: what is expected of each row in each drill, as the staircases have it.

import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { orderStaircases } from '../../loadtest/staircase/lookup.ts';
import type { Row, Sign } from '../../loadtest/staircase/staircase.ts';
import { codeOf, tableOf } from './markdown.ts';

/** A row for each lock and a column for each drill. The names of the drills stand above, each with a line that leads down to its column. */
export function matrix(): string {
  const { columns, rows } = lockStaircase;
  const names = Object.keys(columns);
  const width = Math.max(...Object.keys(rows).map((row) => row.length)) + 1;
  const headings = names.map((name, at) => `${' '.repeat(width)}${'| '.repeat(at)}${name}`);
  const lines = Object.entries(rows).map(
    ([row, { signs }]) => row.padEnd(width) + names.map((name) => signs[name] ?? '–').join(' '),
  );
  return ['```text', ...headings, ...lines, '```'].join('\n');
}

/** What the rows of the orders fail. Those that come out alike stand together. */
export function orderMatrices(): string {
  const drillsWith = ({ signs }: Row, sign: Sign) =>
    Object.keys(signs)
      .filter((drill) => signs[drill] === sign)
      .map(codeOf)
      .join(', ');
  const sections = orderStaircases.map(({ title: [title], rows }) => {
    const found = Object.entries(rows).map(([name, row]) => ({
      name,
      fails: drillsWith(row, '✘') || 'none',
      notApplicable: drillsWith(row, '–'),
    }));
    const isAlike = (one: (typeof found)[number], other: (typeof found)[number]) =>
      one.fails === other.fails && one.notApplicable === other.notApplicable;
    const kinds = found.filter((row, at) => found.findIndex((other) => isAlike(row, other)) === at);
    const hasGaps = found.some(({ notApplicable }) => notApplicable !== '');
    const table = kinds.map((kind) => {
      const alike = found.filter((row) => isAlike(row, kind)).map(({ name }) => codeOf(name));
      return [alike.join(', '), kind.fails, ...(hasGaps ? [kind.notApplicable] : [])];
    });
    return `${title}:\n\n${tableOf(['row', 'fails', ...(hasGaps ? ['nothing to break'] : [])], table)}`;
  });
  return sections.join('\n\n');
}
