// A tick of a node takes longer than the time to the next one. Does the next one begin all the same?

import { countOf, formatDuration } from '../../evidence/numbers.ts';
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
