import { describe, expect, test } from 'vitest';
import { drills } from '../../loadtest/drills/index.ts';
import { hasNothingToBreak, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { playDrill, usualSettings } from '../../loadtest/virtual/play.ts';
import { backendOf, strategies } from '../../locks/index.ts';
import { isVirtual } from '../../virtual/lock-service.ts';
import { ownTargets } from '../loadtest/drills/own-targets.ts';

const stages = Object.keys(strategies);
const { use } = ownTargets(1, [...new Set(stages.map(backendOf))], { hasReplica: true });

/** What the virtual world says. Where it can't carry a cell, what is taught; null where nothing is. */
async function expectedOf(drill: (typeof drills)[number], stage: string) {
  if (!isVirtual(stage)) return taughtVerdict(stage, drill.name);
  const { verdict } = (await playDrill(drill, stage)).outcome;
  return verdict === 'not-applicable' ? taughtVerdict(stage, drill.name) : verdict;
}

// The virtual world is a model. Where real servers disagree with it, it is wrong, or the drill is.
describe.each(stages)('%s', (stage) => {
  test.each(drills.filter(({ name }) => !hasNothingToBreak(stage, name)))(
    '$name: real servers agree with the virtual world',
    async (drill) => {
      const expected = await expectedOf(drill, stage);
      const { verdict, reasons } = await use((target) =>
        drill.run({
          target,
          stage,
          settings: usualSettings,
          signal: new AbortController().signal,
          onProgress() {},
          narrate: async () => {},
        }),
      );
      const isCarried = verdict !== 'not-applicable';
      expect({ verdict, reasons }).toMatchObject({ verdict: isCarried ? (expected ?? verdict) : 'not-applicable' });
    },
  );
});
