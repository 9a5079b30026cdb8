import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';

const scripts = readdirSync(join(projectDir, 'lua'));

test.each(scripts)('%s: opens with what it does, its KEYS and ARGV, and what it returns', (script) => {
  const [does, takes, returns, code] = readFileSync(join(projectDir, 'lua', script), 'utf8').split('\n');

  expect(does).toMatch(/^-- [A-Z].*\.$/);
  expect(takes).toMatch(/^-- KEYS\[1\] .+; (no ARGV|ARGV\[1\] .+)\.$/);
  expect(returns).toMatch(/^-- Returns .+\.$/);
  expect(code).not.toMatch(/^(--|$)/);
});

test.each(scripts)('%s: explains the KEYS and ARGV that it uses, and no others', (script) => {
  const lines = readFileSync(join(projectDir, 'lua', script), 'utf8').split('\n');
  const namesIn = (text: string) => new Set(text.match(/(KEYS|ARGV)\[\d+\]/g));

  expect(namesIn(lines[1] ?? '')).toEqual(namesIn(lines.slice(3).join('\n')));
});
