import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';
import { controlOf, controls, knownBugs } from './bugs.ts';
import { faultsOf, renderPage, rowOf } from './page.ts';
import { caughtBy, recordSchema } from './record.ts';

const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');
const record = recordSchema.parse(JSON.parse(read('docs/measured/known-bugs.json')));

test('the page is what the record says: npm run known-bugs -- --page', () => {
  expect(read('docs/known-bugs.md')).toBe(renderPage(record));
});

describe('the record', () => {
  test.each(knownBugs)('$name: $caughtBy caught it', (bug) => {
    const { contract, drills, search } = caughtBy(rowOf(record, bug.name), rowOf(record, controlOf(bug).name));

    expect([...contract, ...drills, ...search]).toContain(bug.caughtBy);
  });

  test.each(controls)('$name: fails nothing that it promises', ({ name }) => {
    expect(faultsOf(rowOf(record, name))).toEqual([]);
  });
});
