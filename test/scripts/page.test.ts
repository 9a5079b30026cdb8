import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { siteFiles } from '../../workshop/teaching/site.ts';
import { ownRuns } from './command-under-test.ts';

const page = ownRuns('scripts/page.ts');

function ownFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'hosted-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('npm run page -- --hosted: writes the site with the report of the last run, and again over itself', async () => {
  const dir = ownFolder();
  mkdirSync(join(dir, 'reports/latest'), { recursive: true });
  writeFileSync(join(dir, 'reports/latest/report.html'), 'the report');
  const args = [
    '--hosted',
    join(dir, 'site'),
    '--reports',
    join(dir, 'reports'),
    '--address',
    'https://example.org/lab',
  ];

  expect(await page(args)).toMatchObject({ code: 0, stdout: expect.stringContaining('index.html') });
  expect((await page(args)).code).toBe(0);
  expect(readdirSync(join(dir, 'site')).sort()).toEqual([...siteFiles].sort());
  expect(readFileSync(join(dir, 'site/report.html'), 'utf8')).toBe('the report');
  expect(readFileSync(join(dir, 'site/index.html'), 'utf8')).toContain('content="https://example.org/lab/share.png"');
});

test('npm run page -- --hosted: a folder with other files, no folder and no address end with 2', async () => {
  const dir = ownFolder();
  const file = join(dir, 'notes.txt');
  writeFileSync(file, '');
  const says = async (...args: string[]) => {
    const { code, stderr } = await page(args);
    return [code, stderr];
  };

  expect(await says('--hosted', dir)).toEqual([
    2,
    expect.stringContaining('contains notes.txt. Name a new or an empty'),
  ]);
  expect(await says('--hosted', file)).toEqual([2, expect.stringContaining(`${file} is not a folder`)]);
  expect(await says('--hosted')).toEqual([2, expect.stringContaining('argument missing')]);
  expect(await says('--hosted', dir, '--address', 'lab')).toEqual([2, expect.stringContaining('must be an address')]);
  expect(await says('--address', 'https://example.org/')).toEqual([2, expect.stringContaining('needs --hosted')]);
});

test('npm run page -- --hosted: a signal ends it while a sample is played', async () => {
  const dir = ownFolder();
  const { code, stderr } = await page(['--hosted', join(dir, 'site'), '--reports', dir], {
    meanwhile: async (command) => {
      await command.prints(/There is no report yet/);
      command.child.kill('SIGTERM');
    },
  });

  expect([code, stderr]).toEqual([2, expect.stringContaining('The run was interrupted.')]);
  expect(readdirSync(join(dir, 'site'))).toEqual([]);
});
