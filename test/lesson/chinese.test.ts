// The Chinese pages: each stands beside an English one, and says of a stage what the README and the file of the lock say.

import { expect, test } from 'vitest';
import { exists, listDeep, readText, stages } from './project-files.ts';

const pages = listDeep('docs/zh-CN').filter((file) => file.endsWith('.md'));
/** The card is in another folder there. */
const englishOf = (page: string) => page.replace('zh-CN/', page.endsWith('/unknown.md') ? 'teach/' : '');
/** What each stage leaves, as the table of the README has it. */
const leaves = new Map(
  [...readText('README.zh-CN.md').matchAll(/^\| \[(\d-[\w-]+)\].* \| ([^|]+) \|$/gm)].map(([, stage = '', left]) => [
    stage,
    `${left}。`,
  ]),
);

test('Chinese: each page and its English page link to each other', () => {
  const unlinked = pages.filter((page) => {
    const english = englishOf(page);
    const name = page.replace(/.*\//, '');
    return (
      !exists(english) || !readText(english).includes(`zh-CN/${page.includes('/learn/') ? `learn/${name}` : name}`)
    );
  });

  expect(unlinked).toEqual([]);
  expect(pages.length).toBe(stages.length - 1 + 3);
});

test.each(stages.slice(1))(
  'Chinese: the chapter of %s quotes what the stage before leaves, and what this one does',
  (stage) => {
    const chapter = readText(`docs/zh-CN/learn/${stage}.md`);
    const before = stages[stages.indexOf(stage) - 1] ?? '';

    expect(chapter).toContain(`\n> ${leaves.get(before)}\n`);
    expect(chapter).toContain(`\n> ${leaves.get(stage)}\n`);
  },
);

test.each(stages.slice(1))(
  'Chinese: each line of code that the chapter of %s shows is in the lock, or in its scripts',
  (stage) => {
    const lock = readText(`locks/${stage}.ts`);
    const scripts = [...lock.matchAll(/readScript\('([\w-]+)'\)/g)].map(([, name]) => readText(`lua/${name}.lua`));
    const lines = new Set([lock, ...scripts].flatMap((text) => text.split('\n')));
    const shown = [...readText(`docs/zh-CN/learn/${stage}.md`).matchAll(/^```(?:ts|lua)\n(.*?)^```/gms)].flatMap(
      ([, code = '']) => code.trimEnd().split('\n'),
    );

    expect(shown.filter((line) => line !== '// …' && !lines.has(line))).toEqual([]);
    expect(shown).not.toEqual([]);
  },
);
