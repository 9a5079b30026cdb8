import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Given } from '../../workshop/page/pack.ts';
import { beatsOf } from '../../workshop/picture/beats.ts';
import { hasBrowser, launchBrowser } from '../workshop/browser.ts';
import { ownRuns } from './command-under-test.ts';

const drill = ownRuns('scripts/drill.ts');
const dir = mkdtempSync(join(tmpdir(), 'saved-drill-'));
const file = join(dir, 'run.html');
afterAll(() => rmSync(dir, { recursive: true }));

describe('npm run drill -- --save', () => {
  test('a place that can not be written is told before anything is started', async () => {
    const { code, stdout, stderr } = await drill(['crashed-holder', '--stage', '3', '--save', dir]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`${dir} can't be written: `);
  });

  test('the run is kept as one file, which says where it is, and the exit code is that of the drill', async () => {
    const args = ['nested-call', '--stage', '7', '--lease', '3000', '--save', file];
    const { code, stdout, stderr } = await drill(args);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^ +\d+\.\d\d s {2}\S.*✔ holds .*Expected: this stage holds here\..*The run is saved in \S*run\.html/ms,
    );
    const [, given = ''] =
      /<script type="text\/plain" id="given">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8')) ?? [];
    const { run } = JSON.parse(given) as Given;
    expect(run).toMatchObject({
      stage: '7-reentrant',
      drill: 'nested-call',
      verdict: { verdict: 'pass', expected: 'pass' },
    });
    const ofA = beatsOf(run?.events ?? [], 'redis').beats.filter(({ sale }) => sale === 'A');
    const acts = ofA.flatMap(({ command }) => command?.act ?? []);
    expect(acts).toEqual(['acquire', 'read', 'acquire-again', 'release-once', 'write', 'release']);
  });

  test.skipIf(!hasBrowser)('the file opens at its run, without a network, and goes from stop to stop', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ offline: true });
      await page.goto(pathToFileURL(file).href);
      await page.locator('.title', { hasText: 'nested-call' }).waitFor();
      await page.getByRole('button', { name: 'One step forward' }).waitFor();
    } finally {
      await browser.close();
    }
  });
});
