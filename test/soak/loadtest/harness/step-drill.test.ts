import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { crashedHolder } from '../../../../loadtest/drills/crashed-holder.ts';
import { nestedCall } from '../../../../loadtest/drills/nested-call.ts';
import { timelineOf } from '../../../../loadtest/evidence/timeline.ts';
import type { Observed } from '../../../../loadtest/harness/observed.ts';
import { type Judgement, notStaged } from '../../../../loadtest/harness/step-drill.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import type { TestBed } from '../../../../loadtest/harness/test-bed.ts';
import { LEASE_MS, ownTargets, withNodes } from '../../../loadtest/drills/own-targets.ts';

const { run, use } = ownTargets(1);

/** Runs a drill that comes to this judgement, with everything at a standstill in its first tries. */
async function runOnBusyMachine(standstills: number, standstillMs: number, judgement: Judgement) {
  const redis = await use(async ({ stack }) => stack?.redisProcess);
  let tries = 0;
  const drill = {
    ...nestedCall,
    async run() {
      tries += 1;
      if (tries <= standstills) {
        redis?.signal('SIGSTOP');
        await new Promise((resolve) => setTimeout(resolve, standstillMs));
        redis?.signal('SIGCONT');
      }
      return judgement;
    },
  };
  const said: string[] = [];
  const seen: Observed[] = [];
  const outcome = await run(drill, '8-auto-renew', {
    narrate: async (sentence) => void said.push(sentence),
    observe: (testBed) => void seen.push(testBed),
  });
  return { outcome, tries, said, seen };
}

const passed: Judgement = { verdict: 'pass', reason: 'It held.', figures: { answeredMs: 1 }, witnesses: [] };
const tooBusy = /^The machine was too busy: for [\d.]+ m?s nothing went on\./;

test('a drill is run again when the machine stood still in it', async () => {
  const { outcome, tries, said, seen } = await runOnBusyMachine(1, LEASE_MS / 2, passed);

  expect(outcome).toMatchObject({ verdict: 'pass', reasons: ['It held.'] });
  expect(tries).toBeGreaterThanOrEqual(2);
  expect(said[0]).toMatch(tooBusy);
  expect(said[0]).toMatch(/ The drill is run again\.$/);
  expect(seen).toHaveLength(tries);
});

test('a drill that waits for what never comes is ended, and the stack is as it was', async () => {
  const silent = {
    ...nestedCall,
    async run({ first, sellInside }: TestBed) {
      const sale = await sellInside(first, { untilResumed: true });
      await sale.end;
      return passed;
    },
  };
  const startedAt = performance.now();

  await expect(run(silent, '8-auto-renew', { silenceLimitMs: 300 })).rejects.toThrow(
    /^The drill came no further: for 300 ms it has said nothing\.$/,
  );
  expect(performance.now() - startedAt).toBeGreaterThan(300);
});

test('while somebody reads a sentence, no drill is silent for too long', async () => {
  const talking = {
    ...nestedCall,
    async run(testBed: TestBed) {
      await testBed.step('One.');
      return passed;
    },
  };
  const read = async (sentence: string) => void (sentence === 'One.' && (await sleep(500)));

  expect(await run(talking, '8-auto-renew', { silenceLimitMs: 300, narrate: read })).toMatchObject({ verdict: 'pass' });
});

test('while the nodes are made ready, no drill is silent for too long', async () => {
  const prompt = { ...nestedCall, run: async () => passed };
  const slowToBeReady = (target: Target) =>
    withNodes(target, ({ setLock }) => ({
      async setLock(version, timing) {
        await sleep(500);
        await setLock(version, timing);
      },
    }));

  const outcome = await run(prompt, '8-auto-renew', { silenceLimitMs: 300, wrap: slowToBeReady });

  expect(outcome).toMatchObject({ verdict: 'pass' });
});

test('a drill that is watched shows all that its timeline is drawn of', async () => {
  const seen: Observed[] = [];
  const endings: unknown[] = [];
  const { events, timeline } = await run(crashedHolder, '4-ttl', {
    observe: (testBed) => void seen.push(testBed),
    narrate: async (_sentence, _atMs, isStep) => void (isStep && endings.push(seen.at(-1)?.endedAt())),
  });

  const { startedAt, endedAt, faults, deaths, samples, ownerOf, stock } = seen.at(-1) as Observed;
  const until = endedAt() as number;
  expect(new Set(endings)).toEqual(new Set([undefined]));
  expect(faults.map(({ label }) => label)).toEqual(['SIGKILL']);
  expect(deaths()).toHaveLength(1);
  expect(stock).toBe(100);
  expect(
    timelineOf({
      from: startedAt,
      until,
      events: [...events, ...deaths()],
      samples: [...samples()],
      ownerOf,
      faults: [...faults],
    }),
  ).toEqual(timeline);
});

test('a machine that stands still in every try proves nothing', async () => {
  const { outcome, tries } = await runOnBusyMachine(Number.POSITIVE_INFINITY, LEASE_MS / 2, passed);

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(tooBusy)], figures: {} });
  expect(tries).toBe(4);
});

test('a fault that could not be staged is tried again after a short standstill, and keeps its reason', async () => {
  const { outcome, tries } = await runOnBusyMachine(Number.POSITIVE_INFINITY, LEASE_MS / 6, notStaged('It was late.'));

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: ['It was late.'] });
  expect(tries).toBe(4);
});
