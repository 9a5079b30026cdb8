// The result matrix: what is expected of each lock in each drill, as the staircase has it.

import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';

/** A row for each lock and a column for each drill. The names of the drills stand above, each with a line that leads down to its column. */
export function matrix(): string {
  const { columns, rows } = lockStaircase;
  const names = Object.keys(columns);
  const width = Math.max(...Object.keys(rows).map((row) => row.length)) + 1;
  const headings = names.map((name, at) => `${' '.repeat(width)}${'│ '.repeat(at)}${name}`);
  const lines = Object.entries(rows).map(
    ([row, { signs }]) => row.padEnd(width) + names.map((name) => signs[name] ?? '–').join(' '),
  );
  return ['```text', ...headings, ...lines, '```'].join('\n');
}
