import { expect, test } from 'vitest';
import { codeLines } from '../../../live/client/code-lines.ts';

test('code: the diff says of each line what became of it', () => {
  expect(codeLines({ code: 'one\nthree\n', diff: [' one', '-two', '+three', ''] })).toEqual([
    { is: 'kept', text: 'one' },
    { is: 'removed', text: 'two' },
    { is: 'added', text: 'three' },
    { is: 'kept', text: '' },
  ]);
});

test('code: without a stage before it is the file as it is', () => {
  expect(codeLines({ code: '-one\n\ntwo\n' })).toEqual([
    { is: 'kept', text: '-one' },
    { is: 'kept', text: '' },
    { is: 'kept', text: 'two' },
  ]);
});
