import { expect, test } from 'vitest';
import { circlesIn, graphOf, grouped, importsIn, upwardImports } from './import-graph.ts';
import { listDeep, readText } from './project-files.ts';

/** The folders of the project, from the ground up. What stands on a floor imports from the floors below, and from nowhere else. */
const FOLDERS = 'lua, locks, services, virtual, prove, scripts, loadtest, exercises, live, teaching, test'
  .split(', ')
  .map((floor) => floor.split(' '));

/** The rooms of the harness, from the ground up: the same rule, so that two rooms of one floor do not know each other. */
const ROOMS =
  'evidence, peers staircase, harness report, drills orders bench grade prove virtual, verdicts, figures, commands'
    .split(', ')
    .map((floor) => floor.split(' '));

const folderOf = (file: string) => file.split('/')[0] ?? '';
const roomOf = (file: string) => file.split('/')[1] ?? '';

const sourcesOf = (isMeant: (file: string) => boolean) =>
  new Map(
    listDeep()
      .filter((file) => file.endsWith('.ts') && isMeant(file))
      .map((file) => [file, readText(file)]),
  );

const project = graphOf(sourcesOf((file) => file.includes('/')));
const harness = graphOf(sourcesOf((file) => folderOf(file) === 'loadtest'));

test('folders: each has its floor, and imports from the floors below', () => {
  const folders = [...project.keys()].map(folderOf);

  expect(folders.filter((folder) => !FOLDERS.flat().includes(folder))).toEqual([]);
  expect(upwardImports(project, folderOf, FOLDERS)).toEqual([]);
});

test('rooms of the harness: each has its floor, imports from the floors below, and is in no circle', () => {
  expect([...new Set([...harness.keys()].map(roomOf))].sort()).toEqual(ROOMS.flat().sort());
  expect(upwardImports(harness, roomOf, ROOMS)).toEqual([]);
  expect(circlesIn(grouped(harness, roomOf))).toEqual([]);
});

test('files: no circle, not even of types', () => {
  expect(circlesIn(project)).toEqual([]);
});

const made = (files: Record<string, string>) => graphOf(new Map(Object.entries(files)));

test('imports: of values and of types, passed on, for the effect alone, and while it runs', () => {
  const texts = [
    "import { a } from './made-up.ts';",
    "import type { A } from './made-up.ts';",
    "import {\n  a,\n  type B,\n} from './made-up.ts';",
    "export * from './made-up.ts';",
    "import './made-up.ts';",
    "const { a } = await import('./made-up.ts');",
    "type A = typeof import('./made-up.ts');",
    'import { a } from "./made-up.ts";',
  ];

  expect(texts.filter((text) => importsIn(`// A comment.\n${text}\n`).join() !== './made-up.ts')).toEqual([]);
});

test('imports: a package, and a path that is put together, are no files of the project', () => {
  expect(importsIn(`import { z } from 'zod';\nawait import(\`./\${name}.ts\`);\nimport 'node:fs';`)).toEqual([]);
});

test('imports: one that points up and one to a neighbour are found, and none of those that point down', () => {
  const rooms = made({
    'loadtest/evidence/history.ts': "import type { Load } from '../harness/load.ts';",
    'loadtest/harness/load.ts': "import '../evidence/history.ts'; import './rush.ts';",
    'loadtest/harness/rush.ts': "import '../report/page.ts';",
    'loadtest/report/page.ts': '',
  });
  const folders = made({ 'locks/lock.ts': "import '../services/store.ts';", 'services/store.ts': '' });

  expect(upwardImports(rooms, roomOf, ROOMS)).toEqual([
    'loadtest/evidence/history.ts → loadtest/harness/load.ts',
    'loadtest/harness/rush.ts → loadtest/report/page.ts',
  ]);
  expect(upwardImports(folders, folderOf, FOLDERS)).toEqual(['locks/lock.ts → services/store.ts']);
});

test('circles: of two files, of three, of one with itself, and of rooms whose files make none', () => {
  const files = made({
    'a.ts': "import './b.ts';",
    'b.ts': "import type { A } from './a.ts'; import './c.ts';",
    'c.ts': "import './d.ts';",
    'd.ts': "await import('./e.ts');",
    'e.ts': "import './c.ts';",
    'f.ts': "import './f.ts'; import './a.ts';",
    'g.ts': "import './f.ts';",
  });
  const rooms = made({
    'loadtest/drills/a.ts': "import '../orders/b.ts';",
    'loadtest/drills/c.ts': '',
    'loadtest/orders/b.ts': "import '../drills/c.ts';",
  });

  expect(circlesIn(files)).toEqual(['a.ts → b.ts → a.ts', 'c.ts → d.ts → e.ts → c.ts', 'f.ts → f.ts']);
  expect(circlesIn(rooms)).toEqual([]);
  expect(circlesIn(grouped(rooms, roomOf))).toEqual(['drills → orders → drills']);
});
