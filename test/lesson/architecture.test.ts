import { expect, test } from 'vitest';
import { circlesIn, graphOf, grouped, upwardImports } from './import-graph.ts';
import { listDeep, readText } from './project-files.ts';

const floorsOf = (text: string) => text.split(', ').map((floor) => floor.split(' '));
/** The folders of the project, from the ground up. What stands on a floor imports from the floors below, and from nowhere else. */
const FOLDERS = floorsOf('lua, locks, services, simulation, stack, prove, loadtest, workshop, scripts, test');
/** The rooms of the large folders, from the ground up: the same rule, so that two rooms of one floor do not know each other. */
const ROOMS = {
  locks: floorsOf('lock.ts, drivers strategy.ts, stages beyond, index.ts'),
  stack: floorsOf('proxy, processes'),
  loadtest: floorsOf(
    'narration, evidence, peers staircase, harness report, conformance sentences, scenarios, worlds/real worlds/simulated, worlds/foreign orders bench grade prove, run',
  ),
  'services/inventory': floorsOf('chain.ts problem.ts, settings, servers, sale, orders, http, admin, node.ts, main.ts'),
  'services/inventory/orders': floorsOf(
    'order.ts jobs idempotency, refunds, contract.ts order-store.ts dead-letters.ts, schedules report payments sale-order.ts accounts.ts, cleanup.ts, orders.ts',
  ),
  workshop: floorsOf('exercises picture, page, server, teaching'),
};

const folderOf = (file: string) => file.split('/')[0] ?? '';
/** A file that lies in no room has its own, or is one of many of a kind. */
const roomIn = (folder: string) => (file: string) => {
  const [room = '', inner = ''] = file.slice(folder.length + 1).split('/');
  if (room === 'worlds') return `${room}/${inner}`;
  if (folder === 'locks' && /^\d/.test(room)) return 'stages';
  return folder === 'stack' && room.endsWith('.ts') ? 'processes' : room;
};
const sources = listDeep().filter((file) => file.endsWith('.ts') && file.includes('/'));
const project = graphOf(new Map(sources.map((file) => [file, readText(file)])));
/** What the files of a folder import of each other. */
const graphWithin = (folder: string) =>
  new Map(
    [...project]
      .filter(([file]) => file.startsWith(`${folder}/`))
      .map(([file, imported]) => [file, new Set([...imported].filter((other) => other.startsWith(`${folder}/`)))]),
  );

test('folders: each has its floor, imports from the floors below, and no file is in a circle, not even of types', () => {
  const folders = [...project.keys()].map(folderOf);

  expect(folders.filter((folder) => !FOLDERS.flat().includes(folder))).toEqual([]);
  expect(upwardImports(project, folderOf, FOLDERS)).toEqual([]);
  expect(circlesIn(project)).toEqual([]);
});

test.each(Object.entries(ROOMS))(
  'rooms of %s: each has its floor, imports from the floors below, and is in no circle',
  (folder, floors) => {
    const graph = graphWithin(folder);
    const roomOf = roomIn(folder);

    expect([...new Set([...graph.keys()].map(roomOf))].sort()).toEqual(floors.flat().sort());
    expect(upwardImports(graph, roomOf, floors)).toEqual([]);
    expect(circlesIn(grouped(graph, roomOf))).toEqual([]);
  },
);

test.each(['prove', 'simulation'])('folders of %s: none is in a circle with the files beside it', (folder) => {
  expect(circlesIn(grouped(graphWithin(folder), roomIn(folder)))).toEqual([]);
});
