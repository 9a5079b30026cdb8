import { expect, test } from 'vitest';
import { benchSchema } from '../../../loadtest/bench/results.ts';
import { sampleBench } from './sample-bench.ts';

test('bench.json: what a bench writes is what its schema says', () => {
  const written = JSON.parse(JSON.stringify(sampleBench()));

  expect(benchSchema.parse(written)).toEqual(written);
});
