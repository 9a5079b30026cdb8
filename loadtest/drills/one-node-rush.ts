// All sales go to one node, past nginx: what a lock inside one process can do shows here. Is a sale lost?

import type { Drill } from '../harness/drill.ts';
import { runRush } from '../harness/rush.ts';

export const oneNodeRush: Drill = {
  name: 'one-node-rush',
  kind: 'load',
  run(context) {
    const { target, settings } = context;
    const [node] = target.nodes.slice(0, 1);
    if (node === undefined) throw new Error('There is no node to send sales to.');
    return runRush(context, {
      url: node.publicUrl,
      sellers: [node.name],
      requests: settings.requests,
      stock: settings.stock,
    });
  },
};
