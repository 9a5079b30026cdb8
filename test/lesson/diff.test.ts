import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { applyPatch, parsePatch } from 'diff';
import { expect, test } from 'vitest';
import { coloured, stageDiff, wanted, withDiff } from '../../scripts/diff.ts';
import { makeTempDir, nodeArgs, projectDir } from '../../scripts/stack/parts.ts';
import { readText, stages } from './project-files.ts';

const chaptersOf = stages.slice(1);

test.each(chaptersOf)('%s: the diff turns the file before into this one, with the whole file as context', (stage) => {
  const number = stages.indexOf(stage);
  const [before, after] = [stages[number - 1], stage].map((name) => `locks/${name}.ts`) as [string, string];
  const diff = stageDiff(number);
  const [patch] = parsePatch(diff);
  const shown = patch?.hunks.flatMap(({ lines }) => lines).filter((line) => !line.startsWith('-'));

  expect(diff.startsWith(`--- ${before}\n+++ ${after}\n@@ `)).toBe(true);
  expect(applyPatch(readText(before), diff)).toBe(readText(after));
  expect(patch?.hunks.length).toBe(1);
  expect(shown?.map((line) => line.slice(1))).toEqual(readText(after).trimEnd().split('\n'));
});

test('a terminal: it shows added lines green, removed lines red, and the same text', () => {
  const lines = coloured(stageDiff(4)).split('\n');

  expect(stripVTControlCharacters(lines.join('\n'))).toBe(stageDiff(4));
  expect(lines).toContain('\u001b[32m+// Stage 4 · ttl\u001b[39m');
  expect(lines).toContain('\u001b[31m-// Stage 3 · spin\u001b[39m');
  expect(lines).toContain('   return { acquire, release };');
});

test('a chapter: with one diff block it gets the diff there; with none or two it is refused', () => {
  const updated = withDiff('# Title\n\n```diff\nold $1\n```\n\n```ts\ncode\n```\n', '+new $& $1\n');

  expect(updated).toBe('# Title\n\n```diff\n+new $& $1\n```\n\n```ts\ncode\n```\n');
  expect(withDiff(updated, '+new $& $1\n')).toBe(updated);
  expect(() => withDiff('# Title\n', '+new\n')).toThrow('has 0 diff blocks');
  expect(() => withDiff('```diff\n```\n\n```diff\n```\n', '+new\n')).toThrow('has 2 diff blocks');
});

test('npm run diff: a stage by its number or its name, or --write, and nothing else', async () => {
  const wrong = [[], ['0'], ['9'], ['0-none'], ['04'], [''], ['__proto__'], ['4', '5'], ['--write', '4']];

  expect([['4'], ['4-ttl'], ['8-auto-renew'], ['--write']].map(wanted)).toEqual([4, 4, 8, 'write']);
  expect(wrong.map(wanted)).toEqual(wrong.map(() => undefined));
  expect(await runDiff(['4'])).toEqual({ code: 0, stdout: stageDiff(4), stderr: '' });
  expect(await runDiff(['9'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^Say .*\n$/) });
});

test('npm run diff -- --write: it brings the chapters up to date, and says which it cannot', async () => {
  const temp = makeTempDir();
  for (const folder of ['locks', 'lua', 'scripts']) {
    cpSync(join(projectDir, folder), join(temp.dir, folder), { recursive: true });
  }
  cpSync(join(projectDir, 'package.json'), join(temp.dir, 'package.json'));
  symlinkSync(join(projectDir, 'node_modules'), join(temp.dir, 'node_modules'));
  const chapter = (stage = '') => join(temp.dir, 'docs/stages', `${stage}.md`);
  mkdirSync(join(temp.dir, 'docs/stages'), { recursive: true });
  const [missing, broken, current, ...outdated] = chaptersOf as [string, string, string, ...string[]];
  writeFileSync(chapter(broken), '# No diff\n');
  writeFileSync(chapter(current), `\`\`\`diff\n${stageDiff(3)}\`\`\`\n`);
  for (const stage of outdated) writeFileSync(chapter(stage), '# Title\n\n```diff\n-old\n```\n');

  const written = await runDiff(['--write'], temp.dir);
  const texts = outdated.map((stage) => readFileSync(chapter(stage), 'utf8'));
  temp.remove();

  const refusals = `docs/stages/${missing}.md is missing.\ndocs/stages/${broken}.md has 0 diff blocks, and must have one.\n`;
  // The chapter that was up to date is not written, and not named.
  expect(written.stdout).toBe(outdated.map((stage) => `docs/stages/${stage}.md is up to date now.\n`).join(''));
  expect(texts).toEqual(outdated.map((stage) => `# Title\n\n\`\`\`diff\n${stageDiff(stages.indexOf(stage))}\`\`\`\n`));
  expect(written).toMatchObject({ code: 1, stderr: refusals });
});

/** Runs scripts/diff.ts as npm does, in this project or in a copy of it. */
function runDiff(args: string[], dir = projectDir) {
  const [script = '', ...flags] = nodeArgs('scripts/diff.ts').toReversed();
  const command = [...flags.toReversed(), script.replace(projectDir, join(dir, '/')), ...args];
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, command, { env: { ...process.env, CI: 'true' } }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}
