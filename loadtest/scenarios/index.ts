// All drills. Each fault is a scenario file. Three drills are loads: many sales at once, on a stack as in production, and none may be lost.

import { readdirSync, readFileSync } from 'node:fs';
import type { Drill, DrillContext } from '../harness/drill.ts';
import { type RushOptions, runRush } from '../harness/rush.ts';
import { lockStaircase } from '../staircase/lock-stages.ts';
import { readScenario, type Scenario } from './read.ts';
import { asDrill } from './scenario.ts';

const folder = new URL('.', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
const pages = new Map(
  files.map((file) => {
    const page = readScenario(readFileSync(new URL(file, folder), 'utf8'));
    return [page.name, page];
  }),
);

/** The scenario of this name. Throws when there is none. */
export function scenario(name: string): Scenario {
  const found = pages.get(name);
  if (found === undefined)
    throw new Error(`There is no scenario ${name}. The scenarios are ${[...pages.keys()].join(', ')}.`);
  return found;
}

const columns = Object.keys(lockStaircase.columns);
const loads = [
  /** All sales go to one node, past nginx: what a lock inside one process can do shows here. */
  load('one-node-rush', ({ target, settings: { requests, stock } }) => {
    const [node] = target.nodes;
    if (node === undefined) throw new Error('The target has no node to send sales to.');
    return { url: node.loadUrl ?? node.publicUrl, sellers: [node.name], requests, stock };
  }),
  /** Both nodes sell, with stock enough for all: whatever is missing at the end was lost by the lock. */
  load('rush', (context) => toBoth(context, context.settings)),
  /** Twice as many buyers as units. The final stock looks right even when a unit was sold twice, so the sales are counted. */
  load('sell-out', (context) => {
    const { units } = context.settings;
    return toBoth(context, { requests: 2 * units, stock: units });
  }),
];

function load(name: string, of: (context: DrillContext) => RushOptions): Drill {
  return { name, kind: 'load', run: async (context) => runRush(context, of(context)) };
}

function toBoth({ target }: DrillContext, { requests, stock }: { requests: number; stock: number }): RushOptions {
  return { url: target.url, sellers: target.nodes.map(({ name }) => name), requests, stock };
}

/** Scenarios outside the result matrix, as drills: nothing is expected of them. */
export const pagesAside: Drill[] = [...pages.values()].filter(({ name }) => !columns.includes(name)).map(asDrill);

/** All drills of the result matrix, in the order of its columns. */
export const drills: Drill[] = columns.map(
  (name) => loads.find((load) => load.name === name) ?? asDrill(scenario(name)),
);

/** The scenarios of the result matrix, in the order of its columns. */
export const scenarios: Scenario[] = columns.filter((name) => pages.has(name)).map(scenario);
