import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { applyPatch, parsePatch } from 'diff';
import { describe, expect, test } from 'vitest';
import { coloured, stageDiff, wanted, withDiff } from '../../scripts/diff.ts';
import { makeTempDir, nodeArgs, projectDir } from '../../scripts/stack/parts.ts';
import { readText, stages } from './project-files.ts';

const chaptersOf = stages.slice(1);

describe('the diff', () => {
  test.each(chaptersOf)('%s: turns the file of the stage before into its own', (stage) => {
    const number = stages.indexOf(stage);
    const before = readText(`locks/${stages[number - 1]}.ts`);

    const diff = stageDiff(number);

    expect(diff).toMatch(new RegExp(`^--- locks/${stages[number - 1]}\\.ts\n\\+\\+\\+ locks/${stage}\\.ts\n@@ `));
    expect(applyPatch(before, diff)).toBe(readText(`locks/${stage}.ts`));
  });

  test.each(chaptersOf)('%s: has the whole file as context, in one hunk', (stage) => {
    const [patch] = parsePatch(stageDiff(stages.indexOf(stage)));
    const shown = patch?.hunks.flatMap(({ lines }) => lines).filter((line) => !line.startsWith('-'));

    expect(patch?.hunks.length).toBe(1);
    expect(shown?.map((line) => line.slice(1))).toEqual(readText(`locks/${stage}.ts`).trimEnd().split('\n'));
  });

  test('a terminal: shows added lines green, removed lines red, and the same text', () => {
    const diff = stageDiff(4);
    const lines = coloured(diff).split('\n');

    expect(stripVTControlCharacters(lines.join('\n'))).toBe(diff);
    expect(lines).toContain('\u001b[32m+// Stage 4 · ttl\u001b[39m');
    expect(lines).toContain('\u001b[31m-// Stage 3 · spin\u001b[39m');
    expect(lines).toContain('   return { acquire, release };');
  });
});

describe('a chapter', () => {
  test('with one diff block: gets the diff there, and keeps the rest', () => {
    const chapter = '# Title\n\n```diff\nold $1\n```\n\n```ts\ncode\n```\n';

    const updated = withDiff(chapter, '+new $& $1\n');

    expect(updated).toBe('# Title\n\n```diff\n+new $& $1\n```\n\n```ts\ncode\n```\n');
    expect(withDiff(updated, '+new $& $1\n')).toBe(updated);
  });

  test('with no diff block, or with two: is refused', () => {
    expect(() => withDiff('# Title\n', '+new\n')).toThrow('has 0 diff blocks');
    expect(() => withDiff('```diff\n```\n\n```diff\n```\n', '+new\n')).toThrow('has 2 diff blocks');
  });
});

describe('npm run diff', () => {
  test.each([
    ['4', 4],
    ['4-ttl', 4],
    ['1', 1],
    ['8-auto-renew', 8],
    ['--write', 'write'],
  ])('with %s: asks for %s', (argument, what) => {
    expect(wanted([argument])).toBe(what);
  });

  test.each([
    [[]],
    [['0']],
    [['9']],
    [['0-none']],
    [['04']],
    [['']],
    [['__proto__']],
    [['4', '5']],
    [['--write', '4']],
  ])('with %j: asks for nothing that is allowed', (args) => {
    expect(wanted(args)).toBeUndefined();
  });

  test('with a stage: prints the plain diff when it is not on a terminal', async () => {
    expect(await runDiff(['4'])).toEqual({ code: 0, stdout: stageDiff(4), stderr: '' });
  });

  test('with nothing that is allowed: says so in one line, and ends with 2', async () => {
    const { code, stdout, stderr } = await runDiff(['9']);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Say which stage: .*from 1 .* to 8 .*--write\.\n$/);
  });

  test('with --write: brings the chapters up to date, and says which it cannot', async () => {
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
    expect(texts).toEqual(
      outdated.map((stage) => `# Title\n\n\`\`\`diff\n${stageDiff(stages.indexOf(stage))}\`\`\`\n`),
    );
    expect(written).toMatchObject({ code: 1, stderr: refusals });
  });
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
