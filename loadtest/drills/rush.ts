// Sales through nginx to both nodes, with stock enough for all: whatever is missing at the end was lost by the lock. Is any?

import type { Drill } from '../harness/drill.ts';
import { runRush } from '../harness/rush.ts';

export const rush: Drill = {
  name: 'rush',
  kind: 'load',
  run(context) {
    const { target, settings } = context;
    return runRush(context, {
      url: target.url,
      sellers: target.nodes.map(({ name }) => name),
      requests: settings.requests,
      stock: settings.stock,
    });
  },
};
