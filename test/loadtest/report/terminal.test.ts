import { expect, test } from 'vitest';
import { hanging } from '../../../loadtest/report/terminal.ts';

const start = '  \u001b[31m✘ fails\u001b[39m  ';

test.each([
  ['a terminal: lines end between words, and go on under the first letter', 25, ['the late write', 'undid sales']],
  ['a word that has no room is not cut', 12, ['the', 'late', 'write', 'undid', 'sales']],
  ['what is piped is one line', Number.POSITIVE_INFINITY, ['the late write undid sales']],
])('%s', (_what, columns, lines) => {
  expect(hanging(start, 'the late write undid sales', columns)).toBe(start + lines.join(`\n${' '.repeat(11)}`));
});
