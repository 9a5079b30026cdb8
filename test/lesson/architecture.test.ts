import { expect, test } from 'vitest';
import { circlesIn, graphOf, grouped, upwardImports } from './import-graph.ts';
import { listDeep, readText } from './project-files.ts';

const floorsOf = (text: string) => text.split(', ').map((floor) => floor.split(' '));
/** The folders of the project, from the ground up. What stands on a floor imports from the floors below, and from nowhere else. */
const FOLDERS = floorsOf('lua, locks, services, virtual, prove, scripts, loadtest, exercises, live, teaching, test');
/** The rooms of the harness, from the ground up: the same rule, so that two rooms of one floor do not know each other. */
const ROOMS = floorsOf(
  'narration, evidence, peers staircase, harness report, conformance scenarios, orders bench grade prove virtual, commands',
);

const folderOf = (file: string) => file.split('/')[0] ?? '';
const roomOf = (file: string) => file.split('/')[1] ?? '';
const sources = listDeep().filter((file) => file.endsWith('.ts') && file.includes('/'));
const graphOfSources = (files: string[]) => graphOf(new Map(files.map((file) => [file, readText(file)])));
const project = graphOfSources(sources);
const harness = graphOfSources(sources.filter((file) => folderOf(file) === 'loadtest'));

test('folders: each has its floor, imports from the floors below, and no file is in a circle, not even of types', () => {
  const folders = [...project.keys()].map(folderOf);

  expect(folders.filter((folder) => !FOLDERS.flat().includes(folder))).toEqual([]);
  expect(upwardImports(project, folderOf, FOLDERS)).toEqual([]);
  expect(circlesIn(project)).toEqual([]);
});

test('rooms of the harness: each has its floor, imports from the floors below, and is in no circle', () => {
  expect([...new Set([...harness.keys()].map(roomOf))].sort()).toEqual(ROOMS.flat().sort());
  expect(upwardImports(harness, roomOf, ROOMS)).toEqual([]);
  expect(circlesIn(grouped(harness, roomOf))).toEqual([]);
});
