// A tick of a node takes longer than the time to the next ones: does one begin meanwhile, and do they all follow at once?

import { countOf, formatDuration } from '../../evidence/numbers.ts';
import { PERIOD_MS } from '../../staircase/schedules.ts';
import type { ScheduleDrill } from '../schedules.ts';

export const runsOverlap: ScheduleDrill = {
  name: 'runs-overlap',
  async run(testBed) {
    const { first } = testBed;
    await testBed.haveSlowTick();
    const [held, ...others] = await testBed.ticks();
    const meanwhile = others.length;
    await testBed.say(`${countOf(meanwhile, 'tick has', 'ticks have')} begun meanwhile.`);
    await first.resume();
    const count = meanwhile > 0 ? countOf(meanwhile, 'tick') : 'No tick';
    return {
      verdict: meanwhile > 0 ? 'fail' : 'pass',
      reason: `${count} of ${first.name} began while another one of it was under way.`,
      figures: { meanwhile },
      witnesses: others.map(
        ({ beganAt }, at) =>
          `tick ${at + 2} began ${formatDuration(beganAt - (held?.beganAt ?? 0))} after tick 1, which had not ended`,
      ),
    };
  },
};

/** How long after its time a tick begins that has waited for another one, at least: in milliseconds. */
const LATE_MS = PERIOD_MS / 2;

export const runsPileUp: ScheduleDrill = {
  name: 'runs-pile-up',
  async run(testBed) {
    const { first } = testBed;
    await testBed.haveSlowTick();
    await first.resume();
    // Nothing happens that could be awaited: under two of three schedules no tick follows at once.
    await testBed.rest(PERIOD_MS / 2);
    const late = (await testBed.ticks()).filter(({ dueAt, beganAt }) => beganAt - dueAt >= LATE_MS);
    await testBed.say(`It has ended. ${countOf(late.length, 'tick')} that had waited for that followed at once.`);
    const isPile = late.length > 1;
    return {
      verdict: isPile ? 'fail' : 'pass',
      reason: isPile
        ? `${countOf(late.length, 'tick')} of ${first.name} that were due meanwhile followed at once, one after the other.`
        : `No pile of ticks followed the slow one of ${first.name}.`,
      figures: { late: late.length },
      witnesses: late.map(
        ({ dueAt, beganAt }, at) => `late tick ${at + 1} began ${formatDuration(beganAt - dueAt)} after its time`,
      ),
    };
  },
};
