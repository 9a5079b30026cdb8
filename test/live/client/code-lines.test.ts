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

test('code: the story that opens the file is left out, with the line after it', () => {
  const story = ['// Stage 4 · ttl', '// Problem: a problem.', '// Change:  a change.', '// Leaves:  a rest.', ''];
  expect(codeLines({ code: [...story, "import 'a';", '', '// Problem: one.'].join('\n') })).toEqual([
    { is: 'kept', text: "import 'a';" },
    { is: 'kept', text: '' },
    { is: 'kept', text: '// Problem: one.' },
  ]);
  const diff = [...story.map((line) => `-${line}`), ...story.map((line) => `+${line}`), '+// Source: a book.'];
  expect(codeLines({ code: '', diff })).toEqual([{ is: 'added', text: '// Source: a book.' }]);
});
