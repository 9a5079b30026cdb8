import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verdictsSchema } from '../../../loadtest/evidence/verdicts.ts';
import { fileOfPeer, peerNames, peers, rowOfPeer, versionOfPeer } from '../../../loadtest/peers/peer.ts';
import { verdictPage } from '../../../loadtest/verdicts/page.ts';
import { sequenceOf } from '../../../loadtest/verdicts/sequence.ts';
import { isCheck, titleOf } from '../../../loadtest/verdicts/sort.ts';
import { indexPage, withShortTable } from '../../../loadtest/verdicts/tables.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';

const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');
const verdicts = verdictsSchema.parse(JSON.parse(read('docs/measured/verdicts.json')));
const { locks } = verdicts;

describe('verdicts: the pages are what was recorded', () => {
  test('there is one for each published lock, and the index', () => {
    expect(locks.map(({ name }) => name)).toEqual(peerNames);
    expect(readdirSync(join(projectDir, 'docs/verdicts')).toSorted()).toEqual(
      ['README.md', ...peerNames.map((name) => `${name}.md`)].toSorted(),
    );
  });

  test('the index, and the table of docs/choosing.md', () => {
    expect(read('docs/verdicts/README.md')).toBe(indexPage(verdicts));
    const choosing = read('docs/choosing.md');
    expect(choosing).toBe(withShortTable(choosing, verdicts, 'verdicts'));
  });

  test.each(locks)('$name', (lock) => {
    expect(read(`docs/verdicts/${lock.name}.md`)).toBe(verdictPage(lock));
  });
});

describe.each(locks)('verdicts: $name', (lock) => {
  const page = verdictPage(lock);

  test('is of the version that is installed, under that name', () => {
    expect([lock.version, lock.stage]).toEqual([versionOfPeer(lock.name), rowOfPeer(lock.name)]);
    expect(lock.library).toBe(peers[lock.name]?.onNpm);
    expect(existsSync(fileOfPeer(lock.name))).toBe(true);
    expect(page).toContain(`# ${titleOf(lock)}\n`);
    expect(titleOf(lock)).toContain(lock.version);
  });

  test('quotes what it promises, each with the address of this version', () => {
    expect(lock.claims).not.toEqual([]);
    for (const { quote, source } of lock.claims) {
      expect(page).toContain(`> ${quote.split('\n')[0]}`);
      expect(page).toContain(`> — <${source}>`);
      expect(source).toContain(lock.version);
    }
  });

  test('each failure stands there with its reason, and with a witness or with what happened, sale by sale', () => {
    const failed = lock.drills.filter(({ verdict }) => verdict === 'fail');
    for (const result of failed) {
      const { drill, reasons, witnesses } = result;
      const part = page.split(`\n### ${drill}\n`)[1]?.split('\n### ')[0] ?? '';
      expect(part).toContain(reasons.join(' '));
      // What a check counts has a figure instead.
      const isTold = witnesses.length > 0 || sequenceOf(result) !== undefined || isCheck(drill);
      expect(isTold, `${drill} has no witness`).toBe(true);
      for (const witness of witnesses) expect(part).toContain(`- ${witness}`);
      if (lock.doesNotPromise[drill] !== undefined) expect(part).toContain(lock.doesNotPromise[drill]);
    }
  });

  test('is measured: what it sends, in figures that the page has', () => {
    expect(lock.commands.length).toBeGreaterThan(0);
    expect(page).toContain('## What it sends');
  });
});

test('verdicts: no document of them names a library without its version', () => {
  const known = new RegExp(`^# (${locks.map((lock) => titleOf(lock).replaceAll('.', '\\.')).join('|')})$`);
  const titles = locks.map(
    (lock) =>
      verdictPage(lock)
        .split('\n')
        .find((line) => line.startsWith('# ')) ?? '',
  );
  expect(titles.filter((title) => !known.test(title))).toEqual([]);
  const links = [...indexPage(verdicts).matchAll(/\| \[([^\]]+)\]\(\.\/([\w-]+)\.md\)/g)];
  expect(links.map(([, title, name]) => [title, name])).toEqual(locks.map((lock) => [titleOf(lock), lock.name]));
});
