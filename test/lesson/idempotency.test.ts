import { expect, test } from 'vitest';
import { strategies } from '../../services/inventory/orders/idempotency/index.ts';
import { inventorySettings } from '../../services/inventory/settings.ts';
import { exists, list, readText } from './project-files.ts';

const folder = 'services/inventory/orders/idempotency';
const names = Object.keys(strategies);
const lines = (name: string) => readText(`${folder}/${name}.ts`).trimEnd().split('\n');
const chapter = 'docs/orders/idempotency.md';

/** What the header says after `Problem:`, `Change:` or `Leaves:`. */
function read(name: string | undefined, word: 'Problem' | 'Change' | 'Leaves') {
  const line = name && lines(name).find((line) => line.startsWith(`// ${word}:`));
  return line?.replace(/^\/\/ \w+: +/, '');
}

test('idempotency: every strategy has a file under its name, and is a value of IDEMPOTENCY', () => {
  const headed = list(folder).filter((file) => readText(`${folder}/${file}`).startsWith('// Idempotency · '));

  expect(headed.map((file) => file.replace('.ts', '')).toSorted()).toEqual(names.toSorted());
  for (const name of names) expect(inventorySettings.safeParse({ IDEMPOTENCY: name }).success).toBe(true);
});

test.each(names)('idempotency, %s: opens with its name, the problem, the change, and what it leaves', (name) => {
  const [title, problem, change, leaves, blank] = lines(name);

  expect(title).toBe(`// Idempotency · ${name}`);
  expect(problem).toMatch(/^\/\/ Problem: [^ ].*\.$/);
  expect(change).toMatch(/^\/\/ Change: {2}[^ ].*\.$/);
  expect(leaves).toMatch(/^\/\/ Leaves: {2}[^ ].*\.$/);
  expect(blank).toBe('');
});

test.each(names.slice(1))('idempotency, %s: its problem is what the one before leaves, word for word', (name) => {
  expect(read(name, 'Problem')).toBe(read(names[names.indexOf(name) - 1], 'Leaves'));
});

test.each(names)('idempotency, %s: is short enough to be read aloud', (name) => {
  expect(lines(name).length).toBeLessThanOrEqual(90);
});

test('idempotency: the chapter quotes what each strategy leaves, in order', () => {
  expect(exists(chapter)).toBe(true);
  const quotes = [...readText(chapter).matchAll(/^> (.+)$/gm)].map(([, quote]) => quote);
  expect(quotes).toEqual([read('none', 'Problem'), ...names.map((name) => read(name, 'Leaves'))]);
});
