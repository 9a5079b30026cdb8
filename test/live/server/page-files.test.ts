import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makePage, savedPage } from '../../../live/server/page-files.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';

test('the page: other texts take the place of the English ones; a language without texts is refused by name', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'texts-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const textsFile = join(dir, 'de.ts');
  const english = readFileSync(join(projectDir, 'live/texts/en.ts'), 'utf8');
  writeFileSync(textsFile, english.replaceAll('Step by step', 'Schritt').replaceAll("'../../", `'${projectDir}/`));
  const { files, savedScript } = await makePage({ textsFile });

  for (const script of [files['/page.js']?.text, savedScript]) expect(script).not.toContain('Step by step');
  expect(files['/page.js']?.text).toContain('Schritt');
  await expect(makePage({ language: 'xx' })).rejects.toThrow('live/texts/xx.ts is missing');
});

test('the page: a saved run is one file that asks for nothing, and its words end no script', async () => {
  const play = { is: 'ready', trouble: '</script><script>alert(1)</script>' } as const;
  const start = { play, controls: null, views: [] };
  const text = savedPage(await makePage(), { playedAt: '', choices: [], start, changes: [], isCut: false });

  expect(text.match(/<\/?script/g)).toHaveLength(4);
  expect(text).not.toMatch(/(src|href)="\//);
});
