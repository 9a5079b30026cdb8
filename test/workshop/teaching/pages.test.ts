import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stages } from '../../lesson/project-files.ts';
import { ownCommands } from '../../scripts/command-under-test.ts';

const start = ownCommands('scripts/handout.ts');

test('npm run handout: writes both pages into the folder that is named; a flag that it does not know ends it with 2', async () => {
  const reports = mkdtempSync(join(tmpdir(), 'handout-'));
  onTestFinished(() => rmSync(reports, { recursive: true }));
  const [good, bad] = [
    ['--reports', reports],
    ['--paper', 'A3'],
  ].map((args) => start('scripts/handout.ts', args, {}));

  expect((await good?.ended)?.code).toBe(0);
  const files = readdirSync(join(reports, 'teaching'));
  expect(files).toEqual(['handout.html', 'handout.zh-CN.html']);
  for (const file of files) {
    const page = readFileSync(join(reports, 'teaching', file), 'utf8');
    expect(page).not.toMatch(/(src|href)="(?!#)|@import|url\((?!"data:)/);
    for (const stage of stages) expect(page).toContain(`<th scope="row">${stage}</th>`);
  }
  expect((await bad?.ended)?.code).toBe(2);
});
