import { describe, expect, onTestFinished, test } from 'vitest';
import { openLockLab, type ProcessOptions, readLockCode } from '../../simulation/lock-lab.ts';
import { writeModule } from '../loadtest/grade/modules.ts';

const HOUR_MS = 3_600_000;
const ways = [
  ['that has our client', true],
  ['on sockets', false],
] as const;

/** What runs in a process: it says what time it is, and who it is. */
interface Alone {
  clocks(): { wall: number; dated: string; measured: number; ns: number; hrtime: number[] };
  after(ms: number, run: () => void): void;
  who(): { pid: number; drawn: number[]; uuid: string };
}
const file = writeModule(
  'alone.ts',
  `export const clocks = () => ({
     wall: Date.now(),
     dated: new Date().toISOString(),
     measured: performance.now(),
     ns: Number(process.hrtime.bigint()),
     hrtime: process.hrtime(process.hrtime()),
   });
   export const after = (ms, run) => void setTimeout(run, ms);
   export const who = () => ({ pid: process.pid, drawn: [Math.random(), Math.random()], uuid: crypto.randomUUID() });`,
);

/** Starts such processes. What they say is of the present. */
async function ownProcesses(hasOurClient: boolean) {
  const facts = { backend: 'redis', isExternal: true } as never;
  const code = await readLockCode({ name: 'alone', file, facts, hasOurClient });
  const lab = await openLockLab(0);
  onTestFinished(lab.close);
  function start(options: ProcessOptions = {}) {
    const { node, exports } = lab.start(code, options);
    const { clocks, after, who } = exports as unknown as Alone;
    function ask<T>(question: () => T): T {
      let answer: T | undefined;
      node.take(() => {
        answer = question();
      });
      return answer as T;
    }
    return {
      node,
      clocks: () => ask(clocks),
      after: (ms: number, run: () => void) => ask(() => after(ms, run)),
      who: () => ask(who),
    };
  }
  return { lab, start };
}

describe.each(ways)('node: a process %s', (_which, hasOurClient) => {
  test('its wall clock is set forward and back; what measures time goes on, and so do its timers', async () => {
    const { lab, start } = await ownProcesses(hasOurClient);
    const { node, clocks, after } = start();
    await lab.schedule.pass(1_000);
    const before = clocks();
    const fired: number[] = [];
    after(500, () => fired.push(lab.schedule.now()));
    const passed = () => {
      const { wall, dated, measured, ns, hrtime } = clocks();
      expect([dated, hrtime]).toEqual([new Date(wall).toISOString(), [0, 0]]);
      return [wall - before.wall, measured - before.measured, (ns - before.ns) / 1e6];
    };

    node.setWallClock(HOUR_MS);
    await lab.schedule.pass(100);
    expect(passed()).toEqual([HOUR_MS + 100, 100, 100]);
    node.setWallClock(-2 * HOUR_MS);
    await lab.schedule.pass(900);

    expect(passed()).toEqual([1_000 - HOUR_MS, 1_000, 1_000]);
    expect(fired).toEqual([1_500]);
  });

  test('two processes share what they have in common, and nothing else', async () => {
    const { start } = await ownProcesses(hasOurClient);
    const shared = { identity: { pid: 1, seed: 'the same' } };
    const [one, other] = [start(shared).who(), start(shared).who()];
    const [third, fourth] = [start().who(), start().who()];

    expect(other).toEqual({ ...one, uuid: expect.not.stringMatching(one.uuid) });
    expect(one.pid).toBe(1);
    expect(fourth.pid).not.toBe(third.pid);
    expect(fourth.drawn).not.toEqual(third.drawn);
  });
});
