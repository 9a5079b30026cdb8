import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verdictsSchema } from '../../loadtest/evidence/verdicts.ts';
import { fileOfPeer, peerNames, peers, rowOfPeer, versionOfPeer } from '../../loadtest/peers/peer.ts';
import { verdictPage } from '../../loadtest/verdicts/page.ts';
import { sequenceOf } from '../../loadtest/verdicts/sequence.ts';
import { isCheck, titleOf } from '../../loadtest/verdicts/sort.ts';
import { indexPage, withShortTable } from '../../loadtest/verdicts/tables.ts';
import { list, readText } from './project-files.ts';

const verdicts = verdictsSchema.parse(JSON.parse(readText('docs/measured/verdicts.json')));
const { locks } = verdicts;

test('verdicts: the pages, the index and the table of docs/choosing.md are what was recorded', () => {
  expect(locks.map(({ name }) => name)).toEqual(peerNames);
  expect(list('docs/verdicts')).toEqual(['README.md', ...peerNames.map((name) => `${name}.md`)].toSorted());
  for (const lock of locks) expect(readText(`docs/verdicts/${lock.name}.md`)).toBe(verdictPage(lock));
  expect(readText('docs/verdicts/README.md')).toBe(indexPage(verdicts));
  expect(readText('docs/choosing.md')).toBe(withShortTable(readText('docs/choosing.md'), verdicts, 'verdicts'));
});

test('verdicts: each is of the version that is installed, with the address of each promise, and what it sends', () => {
  for (const lock of locks) {
    expect([lock.version, lock.stage]).toEqual([versionOfPeer(lock.name), rowOfPeer(lock.name)]);
    expect(lock.library).toBe(peers[lock.name]?.onNpm);
    expect(existsSync(fileOfPeer(lock.name))).toBe(true);
    expect(verdictPage(lock)).toContain(`# ${titleOf(lock)}\n`);
    expect(titleOf(lock)).toContain(lock.version);
    expect(lock.claims).not.toEqual([]);
    for (const { quote, source } of lock.claims) {
      expect(verdictPage(lock)).toContain(`> ${quote.split('\n')[0]}`);
      expect(verdictPage(lock)).toContain(`> — <${source}>`);
      expect(source).toContain(lock.version);
    }
    expect(lock.commands.length).toBeGreaterThan(0);
    expect(verdictPage(lock)).toContain('## What it sends');
  }
});

test('verdicts: each failure stands there with its reason, and with a witness or with what happened, sale by sale', () => {
  for (const lock of locks) {
    for (const result of lock.drills.filter(({ verdict }) => verdict === 'fail')) {
      const { drill, reasons, witnesses } = result;
      const part = verdictPage(lock).split(`\n### ${drill}\n`)[1]?.split('\n### ')[0] ?? '';
      const told = [reasons.join(' '), ...witnesses.map((one) => `- ${one}`), lock.doesNotPromise[drill] ?? ''];
      expect(told.filter((text) => !part.includes(text))).toEqual([]);
      // What a check counts has a figure instead.
      const isTold = witnesses.length > 0 || sequenceOf(result) !== undefined || isCheck(drill);
      expect(isTold, `${lock.name}: ${drill} has no witness`).toBe(true);
    }
  }
});
