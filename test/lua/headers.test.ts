import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';

const scripts = readdirSync(join(projectDir, 'lua'));
const read = (script: string) => readFileSync(join(projectDir, 'lua', script), 'utf8');

/** The comment that a script opens with, and its code. The comment ends with the line that begins with Returns. */
function partsOf(script: string) {
  const [, header = '', code = ''] = /^((?:--[^\n]*\n)*?-- Returns [^\n]*\n)(.*)$/s.exec(read(script)) ?? [];
  return { header, code };
}

test.each(scripts)('%s: opens with what it does, its KEYS, its ARGV, and what it returns', (script) => {
  const { header, code } = partsOf(script);

  const takes = '-- KEYS\\[1\\] [^;]+;(\\n--)? (no ARGV|ARGV\\[1\\] [^;]+)\\.';
  expect(header).toMatch(new RegExp(`^-- [A-Z].*\\.\\n${takes}\\n-- Returns .+\\.\\n$`));
  expect(code).not.toMatch(/^(--|\n)/);
});

test.each(scripts)('%s: no line is longer than 120 columns', (script) => {
  expect(
    read(script)
      .split('\n')
      .filter((line) => line.length > 120),
  ).toEqual([]);
});

test.each(scripts)('%s: explains the KEYS and ARGV that it uses, and no others', (script) => {
  const { header, code } = partsOf(script);
  const namesIn = (text: string) => new Set(text.match(/(KEYS|ARGV)\[\d+\]/g));

  expect(namesIn(header)).toEqual(namesIn(code));
});
