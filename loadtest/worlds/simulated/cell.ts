// Runs one drill or one conformance check in the simulation, or says why the simulation can't run it.

import { createHash } from 'node:crypto';
import { isVirtual, type LockSource, lockNamed } from '../../../simulation/lock-service.ts';
import { runCheck } from '../../conformance/conformance.ts';
import { runOrders } from '../../conformance/orders.ts';
import { lacksIt } from '../../conformance/outcome.ts';
import { type DrillSettings, lostTrack, notApplicable, type Played } from '../../harness/drill.ts';
import { asClause } from '../../narration/numbers.ts';
import { because, explained } from '../../narration/reasons.ts';
import { drills } from '../../scenarios/index.ts';
import { isCheck, SEEDED_ORDERS } from '../../staircase/conformance.ts';
import { addExternalRow } from '../../staircase/lookup.ts';
import { playDrill, REAL_ONLY } from './play.ts';

export interface VirtualTask {
  stage: string;
  drill: string;
  settings: DrillSettings;
  /** Of an external lock: where it is. */
  lock?: LockSource;
}

export interface VirtualResult extends Played {
  /** The process that played it plays no other cell. */
  endsProcess?: boolean;
}

/** How long orders are staged of one lock, in seconds. */
const ORDERS_SECONDS = 20;

/** What came of a cell whose process was ended by an error that no code handles: that of a node would have been, too. */
export function endedBy(error: unknown, { lock }: VirtualTask): VirtualResult {
  const outcome = lostTrack(error);
  if (lock === undefined) return { outcome, endsProcess: true };
  const text = `A node dies of an unhandled error: ${asClause(String(error))}.`;
  return { outcome: { ...outcome, verdict: 'fail', ...explained([because('text', { text })]) }, endsProcess: true };
}

/** Plays a cell in the simulation. Checks are made one at a time: what no code of a lock handles comes to the process. */
export async function playCell({ stage, drill: name, settings, lock }: VirtualTask): Promise<VirtualResult> {
  if (isCheck(name)) return { outcome: await runCheck(name, lock ?? lockNamed(stage)) };
  if (name === SEEDED_ORDERS && lock) return { outcome: await runOrders(lock, { seconds: ORDERS_SECONDS }) };
  const drill = drills.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  const whyNot = REAL_ONLY[name] ?? (lock || isVirtual(stage) ? undefined : because('servers not simulated', {}));
  if (whyNot !== undefined) return { outcome: notApplicable(whyNot) };
  if (lock !== undefined) addExternalRow(stage, lock.facts);
  try {
    const { outcome, log, lacking } = await playDrill(drill, stage, { settings, ...(lock && { lock, givesUp: true }) });
    if (lacking !== undefined) return { outcome: lostTrack(lacksIt(lacking)) };
    return { outcome, log: createHash('sha256').update(log.join('\n')).digest('hex') };
  } catch (error) {
    return { outcome: lostTrack(error) };
  }
}
