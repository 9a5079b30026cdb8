// Twice as many buyers as units. Is more sold than there is? The final stock looks right even when a unit was sold twice, so the
// sales are counted.

import type { Drill } from '../harness/drill.ts';
import { runRush } from '../harness/rush.ts';

export const sellOut: Drill = {
  name: 'sell-out',
  kind: 'load',
  run(context) {
    const { target, settings } = context;
    return runRush(context, {
      url: target.url,
      sellers: target.nodes.map(({ name }) => name),
      requests: 2 * settings.units,
      stock: settings.units,
    });
  },
};
