import { describe, expect, test } from 'vitest';
import { circlesIn, graphOf, grouped, importsIn, upwardImports } from './import-graph.ts';
import { listDeep, readText } from './project-files.ts';

/** The folders of the project, from the ground up. What stands on a floor imports from the floors below, and from nowhere else. */
const FOLDERS = [
  ['lua'],
  ['locks'],
  ['services', 'prove'],
  ['scripts'],
  ['loadtest'],
  ['exercises'],
  ['live'],
  ['teaching'],
  ['test'],
];

/** The rooms of the harness, from the ground up: the same rule, so that two rooms of one floor do not know each other. */
const ROOMS = [
  ['evidence'],
  ['peers', 'staircase'],
  ['harness', 'report'],
  ['drills', 'orders', 'bench', 'grade', 'prove'],
  ['verdicts'],
  ['figures'],
  ['commands'],
];

const folderOf = (file: string) => file.split('/')[0] ?? '';
const roomOf = (file: string) => file.split('/')[1] ?? '';
const isInFolder = (file: string) => file.includes('/');
const isInHarness = (file: string) => folderOf(file) === 'loadtest';

const sourcesOf = (isMeant: (file: string) => boolean) =>
  new Map(
    listDeep()
      .filter((file) => file.endsWith('.ts') && isMeant(file))
      .map((file) => [file, readText(file)]),
  );

const project = graphOf(sourcesOf(isInFolder));
const harness = graphOf(sourcesOf(isInHarness));

describe('architecture', () => {
  test('folders: each has its floor, and imports from the floors below', () => {
    const folders = [...project.keys()].map(folderOf);

    expect(folders.filter((folder) => !FOLDERS.flat().includes(folder))).toEqual([]);
    expect(upwardImports(project, folderOf, FOLDERS)).toEqual([]);
  });

  test('rooms of the harness: each has its floor, and imports from the floors below', () => {
    expect([...new Set([...harness.keys()].map(roomOf))].sort()).toEqual(ROOMS.flat().sort());
    expect(upwardImports(harness, roomOf, ROOMS)).toEqual([]);
  });

  test('rooms of the harness: no circle', () => {
    expect(circlesIn(grouped(harness, roomOf))).toEqual([]);
  });

  test('files: no circle, not even of types', () => {
    expect(circlesIn(project)).toEqual([]);
  });
});

describe('architecture: what the tests above would find', () => {
  const made = (files: Record<string, string>) => graphOf(new Map(Object.entries(files)));

  test.each([
    ['a value', "import { a } from './made-up.ts';"],
    ['a type', "import type { A } from './made-up.ts';"],
    ['over several lines', "import {\n  a,\n  type B,\n} from './made-up.ts';"],
    ['passed on', "export { a } from './made-up.ts';"],
    ['all of it, passed on', "export * from './made-up.ts';"],
    ['for its effect', "import './made-up.ts';"],
    ['while it runs', "const { a } = await import('./made-up.ts');"],
    ['within a type', "type A = typeof import('./made-up.ts');"],
    ['in other quotes', 'import { a } from "./made-up.ts";'],
  ])('an import: %s', (_how, text) => {
    expect(importsIn(`// A comment.\n${text}\n`)).toEqual(['./made-up.ts']);
  });

  test('a package, and a path that is put together, are no files of the project', () => {
    const text = ["import { z } from 'zod';", `await import(\`./\${name}.ts\`);`, "import 'node:fs';"].join('\n');
    expect(importsIn(text)).toEqual([]);
  });

  test('an arrow that points up, one to a neighbour, and none of those that point down', () => {
    const graph = made({
      'loadtest/evidence/history.ts': "import type { Load } from '../harness/load.ts';",
      'loadtest/harness/load.ts': "import '../evidence/history.ts'; import './rush.ts';",
      'loadtest/harness/rush.ts': "import '../report/page.ts';",
      'loadtest/report/page.ts': '',
    });

    expect(upwardImports(graph, roomOf, ROOMS)).toEqual([
      'loadtest/evidence/history.ts → loadtest/harness/load.ts',
      'loadtest/harness/rush.ts → loadtest/report/page.ts',
    ]);
  });

  test('a folder that imports from a floor above', () => {
    const graph = made({ 'locks/lock.ts': "import '../services/store.ts';", 'services/store.ts': '' });

    expect(upwardImports(graph, folderOf, FOLDERS)).toEqual(['locks/lock.ts → services/store.ts']);
  });

  test('circles: of two files, of three, and of one with itself; what leads into them is in none', () => {
    const graph = made({
      'a.ts': "import './b.ts';",
      'b.ts': "import type { A } from './a.ts'; import './c.ts';",
      'c.ts': "import './d.ts';",
      'd.ts': "await import('./e.ts');",
      'e.ts': "import './c.ts';",
      'f.ts': "import './f.ts'; import './a.ts';",
      'g.ts': "import './f.ts';",
    });

    expect(circlesIn(graph)).toEqual(['a.ts → b.ts → a.ts', 'c.ts → d.ts → e.ts → c.ts', 'f.ts → f.ts']);
  });

  test('circles of rooms, though no two files make one', () => {
    const graph = made({
      'loadtest/drills/a.ts': "import '../orders/b.ts';",
      'loadtest/drills/c.ts': '',
      'loadtest/orders/b.ts': "import '../drills/c.ts';",
    });

    expect(circlesIn(graph)).toEqual([]);
    expect(circlesIn(grouped(graph, roomOf))).toEqual(['drills → orders → drills']);
  });
});
