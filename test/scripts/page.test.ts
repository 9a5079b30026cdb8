import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownRuns } from './command-under-test.ts';

const page = ownRuns('scripts/page.ts');

test('npm run page -- --hosted: writes the page with the last report beside it; without a report it ends with 2', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hosted-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const args = ['--hosted', join(dir, 'site'), '--reports', join(dir, 'reports')];
  const refused = await page(args, {});
  mkdirSync(join(dir, 'reports/latest'), { recursive: true });
  writeFileSync(join(dir, 'reports/latest/report.html'), 'the report');

  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no report yet') });
  expect((await page(args, {})).code).toBe(0);
  expect(readFileSync(join(dir, 'site/report.html'), 'utf8')).toBe('the report');
  expect(readFileSync(join(dir, 'site/index.html'), 'utf8')).toContain('href="report.html"');
});
