// Drills in which nodes and harness stand still for a while, now and then, as on a machine that has no core for them.

import { expect } from 'vitest';
import type { Drill } from '../../../../loadtest/harness/drill.ts';
import type { Harness } from '../../../../loadtest/worlds/simulated/driver.ts';
import { playDrill } from '../../../../loadtest/worlds/simulated/play.ts';
import type { Lab } from '../../../../simulation/lab.ts';
import { createLuck } from '../../../../simulation/luck.ts';

/** Nobody stands still for longer, in milliseconds, nor for less than the other. */
const [LONGEST_MS, SHORTEST_MS] = [700, 20];

/** One to three standstills, at moments of a drill that lasts so long: more of them are short than long. */
function standStill({ schedule, node }: Lab, harness: Harness, seed: number, drillMs: number) {
  const luck = createLuck(Math.imul(seed, 0x9e3779b1) >>> 0);
  const most = 1 + Math.floor(luck() * 3);
  for (let count = 0; count < most; count += 1) {
    const at = luck() * drillMs;
    const who = Math.floor(luck() * 3);
    const ms = Math.round(SHORTEST_MS + luck() ** 2 * (LONGEST_MS - SHORTEST_MS));
    schedule.after(at, () => (who === 2 ? harness : node(who)).standStill(ms));
  }
}

/**
 * Plays a drill under a lock once in quiet, and with the standstills of each seed. Each must end as in quiet, or as unknown. Resolves with
 * how many do not end as unknown.
 */
export async function isNeverWrong(drill: Drill, lock: string, seeds: number[]) {
  const quiet = await playDrill(drill, lock);
  let judged = 0;
  for (const seed of seeds) {
    const disturb = (lab: Lab, harness: Harness) => standStill(lab, harness, seed, quiet.virtualMs);
    const { outcome, log } = await playDrill(drill, lock, { disturb });
    if (outcome.verdict === 'unknown') continue;
    judged += 1;
    const still = log.filter((line) => line.includes('is stalled for'));
    const played = { seed, verdict: outcome.verdict, reasons: outcome.reasons, still };
    expect(played).toEqual({ ...played, verdict: quiet.outcome.verdict });
  }
  return judged;
}
