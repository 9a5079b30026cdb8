// The drills under load: many sales at once, on a stack as it is in production. Is one of them lost?

import type { Drill, DrillContext } from '../harness/drill.ts';
import { type RushOptions, runRush } from '../harness/rush.ts';

/** By their names. */
export const loads = {
  /** All sales go to one node, past nginx: what a lock inside one process can do shows here. */
  'one-node-rush': load('one-node-rush', ({ target, settings: { requests, stock } }) => {
    const [node] = target.nodes;
    if (node === undefined) throw new Error('There is no node to send sales to.');
    return { url: node.publicUrl, sellers: [node.name], requests, stock };
  }),
  /** Both nodes sell, with stock enough for all: whatever is missing at the end was lost by the lock. */
  rush: load('rush', (context) => toBoth(context, context.settings)),
  /** Twice as many buyers as units. The final stock looks right even when a unit was sold twice, so the sales are counted. */
  'sell-out': load('sell-out', (context) => {
    const { units } = context.settings;
    return toBoth(context, { requests: 2 * units, stock: units });
  }),
} satisfies Record<string, Drill>;

function load(name: string, of: (context: DrillContext) => RushOptions): Drill {
  return { name, kind: 'load', run: async (context) => runRush(context, of(context)) };
}

function toBoth({ target }: DrillContext, { requests, stock }: { requests: number; stock: number }): RushOptions {
  return { url: target.url, sellers: target.nodes.map(({ name }) => name), requests, stock };
}
