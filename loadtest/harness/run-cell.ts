// Runs a cell, a drill under a lock, in the real or in the virtual world: whoever shows a verdict has it from here.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { DrillResult } from '../evidence/results.ts';
import { isExternal, taughtVerdict } from '../staircase/lookup.ts';
import type { Cell, DrillContext, DrillOutcome } from './drill.ts';
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

/** How many witnesses an outcome names. */
const MAX_WITNESSES = 10;

/**
 * What no fault of a drill explains is often explained by what the nodes recorded of an external lock: it threw, or nobody was ever
 * given it. And it may have nothing that a drill could break. A machine that stood still leaves nothing to be explained.
 */
export function judgeExternal(outcome: DrillOutcome): DrillOutcome {
  const { verdict, reasons, events, nothingToBreak, isSpoilt } = outcome;
  if (verdict !== 'unknown' || isSpoilt) return outcome;
  // Its figures are those of a drill that was not staged.
  const { figures: _, ...rest } = outcome;
  const fail = (reason: string): DrillOutcome => ({ ...rest, verdict: 'fail', reasons: [reason] });
  const of = (...types: string[]) => events.filter(({ type }) => types.includes(type)).length;
  const faults = events.filter(({ code }) => code === 'LOCK_FAILED');
  const timeouts = events.filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT').length;
  const [asked, entered, sold] = [of('waiting'), of('entered'), of('wrote')];
  const first = mostFrequent(faults.map(({ detail = '' }) => detail));

  if (faults.length > 0 && sold === 0) return fail(`No sale took place: ${first}`);
  if (faults.length > 0) return fail(`${countOf(faults.length, 'sale')} of ${formatNumber(asked)} failed: ${first}`);
  if (asked > 0 && entered === 0) return fail('No sale took place: acquire() gave nobody the lock.');
  if (timeouts > sold) {
    const witnesses = refusedSales(events);
    const reason = `${formatNumber(timeouts)} of ${formatNumber(asked)} sales were refused: the lock was not free in time.`;
    return { ...fail(reason), witnesses: witnesses.slice(0, MAX_WITNESSES), witnessCount: witnesses.length };
  }
  return nothingToBreak ? { ...outcome, verdict: 'not-applicable', reasons: [nothingFor(reasons)] } : outcome;
}

/** The text that is there most often; of several the one that comes first. */
function mostFrequent(texts: string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? '';
}

/** A sentence for each sale that waited for the lock in vain. */
function refusedSales(events: SaleEvent[]): string[] {
  return events
    .filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT')
    .map(({ at, node, saleId }) => {
      const asked = events.find((event) => event.type === 'waiting' && event.node === node && event.saleId === saleId);
      return `sale ${saleId} on ${node} waited ${formatDuration(at - (asked?.at ?? at))}, and was refused`;
    });
}

function nothingFor(reasons: string[]) {
  return `This lock has nothing that the drill could break. ${reasons.join(' ')}`;
}
