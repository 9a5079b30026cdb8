// Runs a cell, a drill under a lock, in the real or in the virtual world: whoever shows a verdict has it from here.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import type { DrillResult } from '../evidence/results.ts';
import { isExternal, taughtVerdict } from '../staircase/lookup.ts';
import type { Cell, DrillContext, DrillOutcome } from './drill.ts';
import { judgeExternal } from './judge-external.ts';
import type { Target } from './target.ts';

/** Whoever follows a cell while it runs. */
export interface Audience extends Partial<Pick<DrillContext, 'onProgress' | 'narrate' | 'observe'>> {
  /** Gives the target that the drill breaks instead of this one, so that what is done to it is seen. */
  watch?(target: Target): Target | Promise<Target>;
}

/** What a world saw of a drill. `log`: the SHA-256 of all that happened in virtual time, the same each time. */
export interface Played {
  outcome: DrillOutcome;
  log?: string;
}

/** Where cells are run. */
export interface World {
  isVirtual: boolean;
  /**
   * Plays the drill. What keeps it from its end, as an abort does, is an unknown outcome; it rejects when the world itself can't be had.
   * `place`: those that are played at the same time have different ones.
   */
  play(cell: Cell, audience: Audience, place: number): Promise<Played>;
}

/** What came of a cell: what `results.json` keeps of it, the events that it rests on and, in virtual time, the log. */
export interface CellRecord extends DrillResult {
  events: SaleEvent[];
  log?: string;
}

/** Runs a cell to its verdict. Rejects when the world can't be had. */
export async function runCell(cell: Cell, world: World, audience: Audience = {}, place = 0): Promise<CellRecord> {
  const startedAt = performance.now();
  const { outcome, log } = await world.play(cell, audience, place);
  const { nothingToBreak: _, isSpoilt: __, ...judged } = isExternal(cell.stage) ? judgeExternal(outcome) : outcome;
  return {
    drill: cell.drill.name,
    taught: taughtVerdict(cell.stage, cell.drill.name),
    ...judged,
    durationMs: Math.round(performance.now() - startedAt),
    ...(log !== undefined && { log }),
  };
}
