import { expect, test } from 'vitest';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { playDrill } from '../../../loadtest/virtual/play.ts';

test.each([
  ['crashed-holder', '4-ttl'],
  ['paused-process', 'fenced'],
  ['failover', '8-auto-renew'],
  ['rush', 'cohort'],
  // Its waiters wait for a random time.
  ['late-votes', 'redlock'],
])('%s under %s: two runs have one log, to the nanosecond', async (name, lock) => {
  const drill = drills.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);

  const [first, second] = [await playDrill(drill, lock), await playDrill(drill, lock)];

  expect(first.log.length).toBeGreaterThan(20);
  expect(second).toEqual(first);
});
