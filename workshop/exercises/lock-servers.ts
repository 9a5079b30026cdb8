// Runs the drills of an exercise on real servers, under the lock in its file.

import { type Drill, runCell } from '../../loadtest/harness/drill.ts';
import { drills as allDrills } from '../../loadtest/scenarios/index.ts';
import { addExternalRow } from '../../loadtest/staircase/lookup.ts';
import { createTargets } from '../../loadtest/worlds/real/targets.ts';
import { realWorld } from '../../loadtest/worlds/real/world.ts';
import type { Exercise, RealVerdict } from './exercise.ts';

/** The lock's name on the nodes, in every exercise. */
const NAME = 'lock-of-an-exercise';
/** The size of a rush: enough that two nodes without a lock always lose sales. */
const settings = { requests: 1_000, connections: 60, stock: 5_000, units: 500, leaseMs: 1_000 };

/** Runs one drill after the other, until one fails. Rejects if the servers can't be started, and with the signal's reason. */
export async function playLock({ file, settings: { drills } }: Exercise, signal: AbortSignal): Promise<RealVerdict[]> {
  addExternalRow(NAME, { backend: 'redis' });
  const targets = createTargets({ modules: { [NAME]: { file, backend: 'redis' } }, onDeath() {} });
  const verdicts: RealVerdict[] = [];
  try {
    for (const wanted of drills) {
      const drill = allDrills.find(({ name }) => name === wanted) as Drill;
      const { verdict, reasons, says } = await runCell(
        { stage: NAME, drill },
        realWorld({ targets, settings, signal }),
      );
      signal.throwIfAborted();
      verdicts.push({ drill: wanted, verdict, reason: reasons.join(' '), says });
      if (verdict === 'fail') break;
    }
    return verdicts;
  } finally {
    await targets.close();
  }
}
