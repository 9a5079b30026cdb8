import { countOverlaps, describeLostUpdate, findLostUpdates, type Stay, staysOf } from './checker.ts';
import type { LockTiming } from './lab-client.ts';
import type { Verdict } from './results.ts';
import { NotStagedError, openScene, type Scene, type SceneOptions, type SceneOutcome } from './scene.ts';

/** A drill that goes step by step: it stages one fault, on purpose, and looks what the lock makes of it. */
export interface StepDrill {
  /** A column of the staircase. */
  name: string;
  /** What the drill needs of the lock's timing, in milliseconds, whatever lease was asked for. */
  timing?: LockTiming;
  run(scene: Scene): Promise<Judgement>;
}

export interface Judgement {
  verdict: Exclude<Verdict, 'not-applicable'>;
  reason: string;
  /** What was measured: milliseconds where the name ends in Ms. */
  figures: Record<string, number>;
  witnesses: string[];
}

export interface StepDrillOptions extends Omit<SceneOptions, 'timing'> {
  leaseMs: number;
}

/** Runs a drill once. What it could not stage is `unknown`. However it ends, the stack is as it was before. */
export async function runStepDrill(drill: StepDrill, options: StepDrillOptions): Promise<Judgement> {
  const scene = await openScene({ ...options, timing: { leaseMs: options.leaseMs, ...drill.timing } });
  try {
    return await drill.run(scene);
  } catch (error) {
    if (!(error instanceof NotStagedError)) throw error;
    return notStaged(error.message);
  } finally {
    await scene.close();
  }
}

/** The fault was never there, so nothing may be concluded. */
export function notStaged(reason: string): Judgement {
  return { verdict: 'unknown', reason, figures: {}, witnesses: [] };
}

/**
 * What the stock says: `sold` counts the sales that were answered so, `inDoubt` those whose answer is missing or does not
 * say. `lostUpdates` is what is lost for certain, whatever became of those in doubt. Throws NotStagedError when units are
 * missing that no sale explains: numbers that do not add up are no verdict.
 */
export function readStock({ ends, initialStock, finalStock, events }: SceneOutcome) {
  const sales = ends.flatMap((end) => (end.outcome === 'sold' ? [end.sale] : []));
  const inDoubt = ends.filter(({ outcome }) => ['inDoubt', 'cutOff', 'nonsense'].includes(outcome)).length;
  const expectedStock = initialStock - sales.length;
  if (finalStock < expectedStock - inDoubt) {
    throw new NotStagedError(`The stock is ${finalStock}, lower than the ${expectedStock} that the sales explain.`);
  }
  return {
    sold: sales.length,
    inDoubt,
    finalStock,
    expectedStock,
    lostUpdates: Math.max(0, finalStock - expectedStock),
    witnesses: findLostUpdates(readersOf(events)).map(describeLostUpdate),
  };
}

/** Who read which stock and went on to write, as the nodes recorded it. */
function readersOf(events: SceneOutcome['events']) {
  return events.flatMap(({ type, stock, node, saleId }) => {
    const hasWritten = events.some((event) => event.type === 'wrote' && event.node === node && event.saleId === saleId);
    return type === 'read' && stock !== undefined && hasWritten ? [{ stockBefore: stock, saleId, node }] : [];
  });
}

/** Pairs of holders inside at the same moment, those left out who `isMeant` does not mean. */
export function overlapsOf({ events }: SceneOutcome, isMeant: (stay: Stay) => boolean = () => true): number {
  return countOverlaps(staysOf(events).filter(isMeant));
}
