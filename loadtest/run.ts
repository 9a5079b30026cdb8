import { setTimeout as sleep } from 'node:timers/promises';
import type { Drill, DrillSettings } from './drill.ts';
import type { SaleEvent } from './lab-client.ts';
import type { Narrator } from './narrator.ts';
import type { DrillResult, StageResult } from './results.ts';
import type { RunFolder } from './run-folder.ts';
import { taughtVerdict } from './staircase.ts';
import type { Target } from './target.ts';

/** How long the cause of an error may take to show, in milliseconds. */
const CAUSE_LIMIT_MS = 500;

/** The user stopped the run. */
export class Interrupted extends Error {}

export interface RunOptions {
  target: Target;
  stages: string[];
  drills: Drill[];
  settings: DrillSettings;
  /** Aborts when the run is to stop: with Interrupted, or with an error that says what has died. */
  signal: AbortSignal;
  narrator: Narrator;
  folder: RunFolder;
}

/** Runs every drill under every stage. What an abort kept from running is left out, as `stage drill`. */
export async function runDrills(options: RunOptions): Promise<{ stages: StageResult[]; leftOut: string[] }> {
  const { target, settings, signal, narrator, folder } = options;
  const stages: StageResult[] = [];
  const leftOut: string[] = [];

  for (const stage of options.stages) {
    const lockVersion = Number.parseInt(stage, 10);
    const results: DrillResult[] = [];
    if (!signal.aborted) narrator.stage(stage);
    for (const drill of options.drills) {
      const result = signal.aborted ? undefined : await runOne(drill, stage, lockVersion);
      if (result) results.push(result);
      else leftOut.push(`${stage} ${drill.name}`);
    }
    if (results.length > 0) stages.push({ stage, lockVersion, drills: results });
  }
  return { stages, leftOut };

  async function runOne(drill: Drill, stage: string, lockVersion: number): Promise<DrillResult | undefined> {
    const startedAt = performance.now();
    narrator.drill(drill.name);
    const outcome = await drill
      .run({ target, stage, settings, signal, onProgress: narrator.progress })
      .catch(async (error) => {
        // A death shows as a call without an answer first, and as a death a moment later.
        await sleep(CAUSE_LIMIT_MS, undefined, { signal }).catch(() => {});
        return lostTrack(signal.aborted ? signal.reason : error);
      });
    if (signal.reason instanceof Interrupted) return undefined;

    const { events, ...judged } = outcome;
    const result: DrillResult = {
      drill: drill.name,
      taught: taughtVerdict(lockVersion, drill.name),
      ...judged,
      durationMs: Math.round(performance.now() - startedAt),
    };
    folder.writeEvents(stage, drill.name, events);
    narrator.result(result);
    return result;
  }
}

/** A drill that could not be carried through proves nothing. */
function lostTrack(error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  const events: SaleEvent[] = [];
  return { verdict: 'unknown' as const, reasons: [reason], witnesses: [], witnessCount: 0, stockOverTime: [], events };
}
