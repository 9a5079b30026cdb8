import { expect, test } from 'vitest';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';

const RUNS = 100;
const stages: Record<string, string> = { 'late-votes': 'redlock', 'paused-process': 'fenced', 'redis-outage': 'fair' };

test.each(drills.filter(({ name }) => name in stages))(`$name: ${RUNS} runs have one log`, async (drill) => {
  const logs = new Set<string>();
  for (let run = 0; run < RUNS; run += 1) logs.add((await playDrill(drill, stages[drill.name] ?? '')).log.join('\n'));

  expect(logs.size).toBe(1);
});
