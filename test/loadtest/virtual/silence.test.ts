// How long a drill may say nothing, and what those who follow it see meanwhile.

import { expect, test } from 'vitest';
import { sleep } from '../../../loadtest/harness/clock.ts';
import type { Judgement, StepDrill } from '../../../loadtest/harness/step-drill.ts';
import type { TestBed } from '../../../loadtest/harness/test-bed.ts';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { run } from './own-target.ts';

const nestedCall = scenario('nested-call');

const passed: Judgement = { verdict: 'pass', reason: 'It held.', figures: {}, witnesses: [] };
const drillThat = (act: (testBed: TestBed) => Promise<unknown>): StepDrill => ({
  ...nestedCall,
  run: async (testBed) => act(testBed).then(() => passed),
});

test('a drill that waits for what never comes is ended, and the stack is as it was', async () => {
  const silent = drillThat(async ({ first, sellInside }) => (await sellInside(first, { untilResumed: true })).end);

  await expect(run(silent, '8-auto-renew', { silenceLimitMs: 300 })).rejects.toThrow(
    /^The drill came no further: for 300 ms it has said nothing\.$/,
  );
});

test('while somebody reads a sentence, no drill is silent for too long', async () => {
  const talking = drillThat((testBed) => testBed.step('One.'));
  const narrate = () => sleep(500);

  expect(await run(talking, '8-auto-renew', { silenceLimitMs: 300, narrate })).toMatchObject({ verdict: 'pass' });
});
