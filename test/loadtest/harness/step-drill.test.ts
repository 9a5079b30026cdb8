import { expect, test } from 'vitest';
import { nestedCall } from '../../../loadtest/drills/nested-call.ts';
import { LEASE_MS, ownTargets } from '../drills/own-targets.ts';

const { run, use } = ownTargets(1);

/** Runs the drill with everything at a standstill while it says its first sentence, as often as `times`. */
async function runOnBusyMachine(times: number) {
  const said: string[] = [];
  let left = times;
  const redis = await use(async ({ stack }) => stack?.redisProcess);
  const outcome = await run(nestedCall, '8-auto-renew', {
    async narrate(sentence) {
      said.push(sentence);
      if (left === 0 || !sentence.includes('asks for it again')) return;
      left -= 1;
      redis?.signal('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS / 2));
      redis?.signal('SIGCONT');
    },
  });
  return {
    outcome,
    again: said.filter((sentence) => /^The machine was too busy: .* run again\.$/.test(sentence)).length,
  };
}

test('a drill is run again when the machine stood still in it', async () => {
  const { outcome, again } = await runOnBusyMachine(1);

  expect(outcome).toMatchObject({ verdict: 'pass', reasons: [expect.stringMatching(/^Answered in/)] });
  expect(again).toBe(1);
});

test('a machine that stands still in every try proves nothing', async () => {
  const { outcome, again } = await runOnBusyMachine(4);

  expect(outcome).toMatchObject({ verdict: 'unknown', witnesses: [] });
  expect(outcome.reasons).toEqual([expect.stringMatching(/^The machine was too busy: for .* nothing went on\.$/)]);
  expect(again).toBe(3);
});
