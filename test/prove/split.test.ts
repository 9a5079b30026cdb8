import { describe, expect, test } from 'vitest';
import { fileOf, searchIn } from './own-locks.ts';

const stages = ['4-ttl', '5-owner-check'];

describe('split: a command and its reply as two steps', () => {
  test.each(stages)('%s: the same verdicts, with more orders', async (stage) => {
    for (const scope of ['plain', 'late-release', 'slow-holder']) {
      const whole = await searchIn(fileOf(stage), scope);
      const split = await searchIn(fileOf(stage), scope, { isSplit: true });

      expect({ scope, verdict: split.verdict, cut: split.cut }).toEqual({ scope, verdict: whole.verdict, cut: 0 });
      expect(split.states).toBeGreaterThan(whole.states);
      if (whole.verdict === 'holds') expect(split.schedules).toBeGreaterThan(whole.schedules);
      else expect(split.reason).toBe(whole.reason);
    }
  });
});
