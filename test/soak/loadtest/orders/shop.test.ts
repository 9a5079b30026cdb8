import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DrillOutcome } from '../../../../loadtest/harness/drill.ts';
import { playOnBusyMachine } from '../../../../loadtest/orders/shop.ts';

const passed: DrillOutcome = {
  verdict: 'pass',
  reasons: ['Every unit came back once.'],
  figures: { due: 1, restored: 1, closed: 1 },
  witnesses: [],
  witnessCount: 0,
  stockOverTime: [],
  events: [],
};

/** A drill in which this process has no turn for so long each time; counts how often it is played. */
function standingStill(ms: number) {
  const drill = {
    times: 0,
    async playOnce() {
      drill.times += 1;
      // The watch has begun when the event loop has had a turn.
      await sleep(20);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      await sleep(20);
      return passed;
    },
  };
  return drill;
}

const narrated: string[] = [];
const narrate = async (sentence: string) => {
  narrated.push(sentence);
};

test('a drill of the orders during which the harness stood still for more than a quarter of a lease is unknown', async () => {
  const drill = standingStill(400);

  const { verdict, reasons, figures } = await playOnBusyMachine(drill.playOnce, { leaseMs: 600, narrate });

  expect({ verdict, figures }).toEqual({ verdict: 'unknown', figures: {} });
  expect(reasons.join()).toMatch(/The machine was too busy: for .* nothing went on\./);
  expect(drill.times).toBe(4);
  expect(narrated.join()).toMatch(/The drill is run again\./);
});

test('a standstill that is short beside the lease spoils nothing', async () => {
  const drill = standingStill(400);

  const { verdict } = await playOnBusyMachine(drill.playOnce, { leaseMs: 30_000, narrate });

  expect({ verdict, times: drill.times }).toEqual({ verdict: 'pass', times: 1 });
});

test('a drill of the orders whose fault could not be staged is played again, and says why', async () => {
  const silent: DrillOutcome = { ...passed, verdict: 'unknown', reasons: ['MySQL does not answer.'] };
  const outcomes = [silent, passed];
  narrated.length = 0;

  const { verdict } = await playOnBusyMachine(async () => outcomes.shift() ?? passed, { leaseMs: 30_000, narrate });

  expect(verdict).toBe('pass');
  expect(narrated).toEqual(['MySQL does not answer. The drill is run again.']);
});
