import { ratiosOf } from '../../../loadtest/bench/figures.ts';
import type { BenchResults, Turn, TurnFigures } from '../../../loadtest/bench/results.ts';

/** A turn with figures; what a test does not care about is filled in. */
export function turn(round: number, name: string, given: Partial<TurnFigures> = {}, waiters = 100): Turn {
  const figures = {
    perSecond: 1_000,
    commandsPerAcquisition: 10,
    cpuMicros: { processes: 30, redis: 12 },
    waitMs: { p50: 80, p99: 220, max: 300 },
    p99ToIdeal: 1.1,
    sections: 2_500,
    lostUpdates: 0,
    starved: 0,
    errors: 0,
    ...given,
  };
  return { round, waiters, name, figures };
}

/** A run of three rounds at 100 waiters: `peer:async-mutex` loses updates, and `peer:redlock` could not be measured once. */
export function sampleBench(change: (results: BenchResults) => void = () => {}): BenchResults {
  const contestants: BenchResults['contestants'] = [
    { name: 'serial-ceiling', kind: 'ceiling' },
    { name: 'handover-ceiling', kind: 'ceiling' },
    { name: '6-lua-release', kind: 'ours' },
    { name: 'cohort', kind: 'ours' },
    { name: 'peer:redlock', kind: 'peer', version: '5.0.0-beta.2', options: { duration: 'the lease <30 s>' } },
    { name: 'peer:async-mutex', kind: 'peer', version: '0.5.0', options: { mutex: 'one for each key' } },
  ];
  const turns: Turn[] = [
    turn(1, 'serial-ceiling', { perSecond: 10_000 }),
    turn(1, 'handover-ceiling', { perSecond: 11_500 }),
    turn(1, '6-lua-release', { perSecond: 1_600, starved: 40 }),
    turn(1, 'cohort', { perSecond: 9_200, commandsPerAcquisition: 2.1 }),
    turn(1, 'peer:redlock', { perSecond: 2_000 }),
    turn(1, 'peer:async-mutex', { perSecond: 8_000, lostUpdates: 900 }),
    turn(2, 'serial-ceiling', { perSecond: 9_000 }),
    turn(2, '6-lua-release', { perSecond: 1_500 }),
    turn(2, 'cohort', { perSecond: 7_200, commandsPerAcquisition: 2.2 }),
    turn(2, 'peer:redlock', { perSecond: 2_400 }),
    turn(2, 'peer:async-mutex', { perSecond: 8_000, lostUpdates: 900 }),
    turn(3, 'serial-ceiling', { perSecond: 8_000 }),
    turn(3, '6-lua-release', { perSecond: 1_700 }),
    turn(3, 'cohort', { perSecond: 7_600, commandsPerAcquisition: 2.1 }),
    { round: 3, waiters: 100, name: 'peer:redlock', failure: 'A process of the bench has ended.' },
    turn(3, 'peer:async-mutex', { perSecond: 8_000, lostUpdates: 900 }),
  ];
  const results: BenchResults = {
    format: 1,
    command: 'npm run bench',
    startedAt: '2026-11-21T10:15:00.000Z',
    durationMs: 74_000,
    mode: 'locks',
    environment: {
      node: 'v20.20.2',
      os: 'Linux 6.1.0 x64',
      cpus: '2 × AMD EPYC',
      redis: { kind: 'native', version: '7.0.15' },
      nginx: 'none',
      backends: {},
      commit: 'abc1234',
      load: 0.3,
    },
    settings: {
      rounds: 3,
      seconds: 2,
      waiters: [100],
      leaseMs: 30_000,
      retryDelayMs: 20,
      spinners: { count: 2, priority: 'SCHED_IDLE' },
    },
    contestants,
    turns,
    ratios: ratiosOf({ mode: 'locks', turns, contestants }),
  };
  change(results);
  return results;
}
