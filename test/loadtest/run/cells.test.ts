import { spawn } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { checkNamed } from '../../../loadtest/conformance/checks.ts';
import { type Drill, type DrillOutcome, lostTrack, runCell, type World } from '../../../loadtest/harness/drill.ts';
import { playAgain } from '../../../loadtest/harness/play.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { runCells } from '../../../loadtest/run/cells.ts';
import { realWorld } from '../../../loadtest/worlds/real/world.ts';
import { usualSettings } from '../../../loadtest/worlds/simulated/play.ts';
import { PartError } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';

const target = { nodes: [], partDied: new Promise(() => {}) } as unknown as Target;

/** Runs a drill that comes to this, and resolves with its verdict and with how many stacks were discarded. */
async function run(stage: string, kind: Drill['kind'], outcome: () => Promise<DrillOutcome>) {
  const stopping = new AbortController();
  const discarded: Drill['kind'][] = [];
  const targets = { open: async () => target, discard: async (kind: Drill['kind']) => void discarded.push(kind) };
  const world = realWorld({ targets, settings: usualSettings, signal: stopping.signal });
  const drill: Drill = { name: 'rush', kind, run: outcome };
  const { verdict } = await runCell({ stage, drill }, world);
  return { verdict, discarded: discarded.length };
}

const passed = async (): Promise<DrillOutcome> => ({ ...lostTrack(''), verdict: 'pass' });
const unknown = async () => lostTrack('Sales were still in flight at the end.');
const refused = { type: 'failed' as const, node: 'node-1', saleId: '1', at: 0, code: 'LOCK_WAIT_TIMEOUT' };
const spoilt = (standstillMs: number) => () =>
  playAgain(async () => ({ outcome: { ...lostTrack('It came late.'), events: [refused] }, standstillMs }), {
    ...{ wrongMs: 250, hinderingMs: 125, tries: 1 },
    narrate: async () => {},
  });

test('an external lock is not blamed for a busy machine: what its nodes recorded explains nothing', async () => {
  expect((await run('mine', 'steps', spoilt(0))).verdict).toBe('fail');
  expect((await run('mine', 'steps', spoilt(125))).verdict).toBe('unknown');
  expect((await run('mine', 'steps', spoilt(250))).verdict).toBe('unknown');
});

test.each([
  ['a node that ended', new PartError('node-1', 'node-1 ended with exit code 1'), 'fail'],
  ['a node that was late', new PartError('node-1', 'node-1 came too late', { isLate: true }), 'unknown'],
  ['another part, whatever it says', new PartError('redis', 'node-1 ended with exit code 1'), 'unknown'],
])(
  '%s keeps the stack from its start: an external lock is blamed for its node alone',
  async (_what, error, verdict) => {
    const targets = { open: () => Promise.reject(error), discard: async () => {} };
    const world = realWorld({ targets, settings: usualSettings, signal: new AbortController().signal });
    const drill: Drill = { name: 'rush', kind: 'steps', run: passed };

    expect(await runCell({ stage: 'mine', drill }, world)).toMatchObject({ verdict });
  },
);

test.each([
  ['computes for ever', 'for (;;) {}', { keptMs: 0, silenceMs: Number.POSITIVE_INFINITY }, 'fail'],
  ['does not compute', 'setInterval(() => {}, 1e9)', { keptMs: 10_000, silenceMs: 0 }, 'unknown'],
] as const)(
  'a node that gives no sign and %s: an external lock is blamed for the first',
  async (_, program, limits, verdict) => {
    const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
    const { pid } = child;
    cleanUpLater(() => void child.kill('SIGKILL'));
    const signs = [{ pid }];
    const node = {
      name: 'node-1',
      process: { kill: async () => void child.kill('SIGKILL') },
      state: async () => signs.pop() ?? new Promise(() => {}),
    };
    const silent = { ...target, nodes: [node] } as unknown as Target;
    const targets = { open: async () => silent, discard: async () => {} };
    const settings = { ...usualSettings, leaseMs: 0 };
    const world = realWorld({ targets, settings, signal: new AbortController().signal, limits });
    const run: Drill['run'] = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

    expect((await runCell({ stage: 'mine', drill: { name: 'rush', kind: 'steps', run } }, world)).verdict).toBe(
      verdict,
    );
  },
);

test.each([
  ['a drill that holds', '4-ttl', 'steps', passed, 0],
  ['a drill that could not stage its fault, and has put the stack back', '4-ttl', 'steps', unknown, 0],
  ['a drill that could not put it back', '4-ttl', 'steps', () => Promise.reject(new Error('Sales are in flight.')), 1],
  ['a load after which sales may go on', '4-ttl', 'load', unknown, 1],
  ['an external lock of which nothing is known', 'mine', 'steps', unknown, 1],
] as const)('%s: the stack is used again only when it is clean', async (_what, stage, kind, outcome, discarded) => {
  expect((await run(stage, kind, outcome)).discarded).toBe(discarded);
});

test.each([1, 3])('on real servers, %i at once: the checks are over before a drill begins', async (workers) => {
  const seen: string[] = [];
  const world: World = {
    isVirtual: false,
    async play({ drill }) {
      seen.push(`${drill.name} begins`);
      await nextTurn();
      seen.push(`${drill.name} ends`);
      return { outcome: await passed() };
    },
  };
  const drills: Drill[] = [
    { name: 'crashed-holder', kind: 'steps', run: passed },
    { name: 'rush', kind: 'load', run: passed },
    ...['contract-enter', 'seeded-orders'].map(checkNamed),
  ];
  await runCells({
    cells: drills.map((drill) => ({ stage: 'mine', drill })),
    worldOf: () => world,
    isVirtual: false,
    workers,
    signal: new AbortController().signal,
    narrator: { result() {}, end() {} },
    folder: { writeEvents() {} },
  });

  expect(seen.slice(0, 4).every((line) => /^(contract-enter|seeded-orders) /.test(line))).toBe(true);
  expect(seen).toHaveLength(8);
});
