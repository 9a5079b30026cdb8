import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePage, savedPage } from '../../../live/server/page-files.ts';

const textsFile = join(import.meta.dirname, '../../soak/live/longer-texts.ts');

test('the page: all that is served is less than 100 kB, unpacked', async () => {
  const { files } = await makePage();
  const sizes = Object.entries(files).map(([path, { text }]) => [path, Buffer.byteLength(text)] as const);

  expect(sizes.map(([path]) => path)).toEqual(['/', '/icon.svg', '/page.js', '/page.css']);
  for (const [path, size] of sizes) expect({ path, isThere: size > 100 }).toEqual({ path, isThere: true });
  expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(100_000);
});

test('the page: other texts take the place of the English ones, all of them', async () => {
  const { files, savedScript } = await makePage({ textsFile });

  for (const script of [files['/page.js']?.text, savedScript]) {
    // The English words are in it to be made longer, once.
    expect(script?.match(/Step by step/g)).toHaveLength(1);
    expect(script).toContain('.3)');
  }
});

test('the page: a language without texts is refused by name', async () => {
  await expect(makePage({ language: 'xx' })).rejects.toThrow(
    /^live\/texts\/xx\.ts is missing: translate live\/texts\/en\.ts to it\.$/,
  );
});

test('the page: a saved run is one file that asks for nothing, and its words end no script', async () => {
  const page = await makePage();
  const start = {
    play: { is: 'ready', trouble: '</script><script>alert(1)</script>' },
    controls: null,
    views: [],
  } as const;
  const text = savedPage(page, {
    playedAt: '',
    choices: [],
    start: { ...start, views: [] },
    changes: [],
    isCut: false,
  });

  expect(text.match(/<script/g)).toHaveLength(2);
  expect(text.match(/<\/script>/g)).toHaveLength(2);
  expect(text).not.toMatch(/(src|href)="\//);
});
