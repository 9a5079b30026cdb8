import { afterEach, expect, test } from 'vitest';
import { speak } from '../../../loadtest/narration/language.ts';
import { because, type Reason } from '../../../loadtest/narration/reasons.ts';
import { remedyOf } from '../../../loadtest/report/remedy.ts';

afterEach(() => speak('en'));

const unknown = (drill: string, ...says: Reason[]) => ({
  drill,
  verdict: 'unknown' as const,
  facts: { says, seen: [], told: [], deeds: [] },
});

const alone = 'Run this drill alone: npm start -- --stage 8-auto-renew --drill paused-process.';
const simulated =
  'Or run it in simulated time, on any machine: npm run staircase -- --stage 8-auto-renew --drill paused-process.';

test('a busy machine: the drill alone, or in simulated time', () => {
  const busy = unknown('paused-process', because('machine too busy', { ms: 900 }));

  expect(remedyOf('8-auto-renew', busy)).toBe(`${alone} ${simulated}`);
});

test('a reason that names its cause: that first', () => {
  const strange = unknown('rush', because('stock too low', { stock: 1, expected: 2 }));

  expect(remedyOf('fenced', strange)).toMatch(/^Check that no other run uses the same Redis\. Run this drill alone/);
});

test('what simulated time does not have is run alone: memory, MySQL, the orders', () => {
  expect(remedyOf('3-spin', unknown('long-wait'))).not.toContain('simulated');
  expect(remedyOf('mysql-named', unknown('rush'))).not.toContain('simulated');
  expect(remedyOf('guard-none', unknown('same-node-twice'))).toBe(
    'Run this drill alone: npm start -- --track orders --stage none --drill same-node-twice.',
  );
});

test('a verdict needs no remedy', () => {
  expect(remedyOf('8-auto-renew', { ...unknown('rush'), verdict: 'fail' })).toBe('');
});

test('in Chinese', () => {
  speak('zh');

  expect(remedyOf('8-auto-renew', unknown('paused-process'))).toBe(
    '单独运行这个演练：npm start -- --stage 8-auto-renew --drill paused-process。或用模拟时间运行，与机器快慢无关：npm run staircase -- --stage 8-auto-renew --drill paused-process。',
  );
});
