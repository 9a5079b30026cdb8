import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { storyRowsOf } from '../../../loadtest/run/tracks.ts';
import { checkNames } from '../../../loadtest/staircase/contract.ts';
import { newCommand, numberFrom } from '../../../scripts/command-line/command.ts';
import { readDrillOptions, readGradeOptions, readRunOptions } from '../../../scripts/command-line/run-options.ts';

/** Reads a command line that ends the process with 2; returns what it prints. */
function refuse(args: string[], version?: string): string {
  return refuseBy(() => readRunOptions('npm start', 'Runs.', ['node', 'replay.ts', ...args], version));
}

function refuseBy(readOptions: () => unknown): string {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit code ${code}`);
  });
  try {
    expect(readOptions).toThrow('exit code 2');
    return write.mock.calls.map(([text]) => text).join('');
  } finally {
    exit.mockRestore();
    write.mockRestore();
  }
}

test.each([
  [['--stage', ''], /--stage {2}is not allowed/],
  [['--track', 'orders', '--stage', ''], /--stage {2}is not allowed/],
  [['--stage', '9'], /--stage.*9.*a number from 0 to 8/s],
  [['--drill', 'nap'], /--drill.*nap.*one-node-rush, rush, sell-out.*crashed-holder.*failover/s],
  [['--drill', 'sell-out', '--units', '10', '--connections', '30'], /too many for the 20 buyers/],
  [['--lease', '99'], /--lease.*99.*at least 100 ms/s],
  [['--url', 'http://127.0.0.1:1'], /--url and --lab go together/],
  [['--track', 'orders', '--stage', 'nap'], /--stage nap.*guard-none, guard-in-process.*key-none.*key-table/],
  [['--nonsense'], /unknown option/],
])('%j: refused with exit code 2 and a line that says what is allowed', (args, line) => {
  const said = refuse(args);
  expect(said).toMatch(line);
  expect(said.trim().split('\n')).toHaveLength(1);
});

test.each(['http://user:s3cret@h:1', 'http//user:s3cret@h', 'http://h:0/s3cret', 's3cret'])(
  '--url and --lab %s: refused with exit code 2, and not shown: it may have a password',
  (address) => {
    for (const option of ['--url', '--lab']) {
      const said = refuse([option, address]);
      expect(said).toMatch(new RegExp(`${option}.* is invalid\\. It must be an address such as`));
      expect(said).not.toContain('s3cret');
    }
  },
);

test.each([
  [[], /name a module, such as \.\/my-lock\.ts, or a package, such as redlock@5, or give --libraries or --new/],
  [['a.ts', 'b/a.ts'], /two modules are named a/],
  [['--new', 'a.ts', './b.ts'], /--new grades nothing/],
  [['--new', 'a.ts', '--libraries'], /--new grades nothing/],
  [['--lock', 'x', './a.ts'], /--lock goes with a package/],
  [['--lock', 'x', '--libraries'], /--lock goes with a package/],
])('npm run grade -- %j: refused with exit code 2 and a line that says what is allowed', (args, line) => {
  const said = refuseBy(() => readGradeOptions(['node', 'grade.ts', ...args]));
  expect(said).toMatch(line);
  expect(said.trim().split('\n')).toHaveLength(1);
});

test.each([
  [['no-such-drill', '--stage', '4'], /no drill no-such-drill/],
  [['nested-call'], /--stage/],
  [['nested-call', '--stage', 'none'], /--stage none is not allowed: it must be 0-none/],
  [['double-restore', '--stage', 'table'], /--stage table is not allowed: it must be guard-none, guard-in-process/],
])('npm run drill -- %j: refused with exit code 2 and a line that says what is allowed', (args, line) => {
  expect(refuseBy(() => readDrillOptions(['node', 'drill.ts', ...args]))).toMatch(line);
});

test.each([
  [
    ['nested-call', '--stage', 'fenced,4'],
    ['4-ttl', 'fenced'],
  ],
  [
    ['double-restore', '--stage', 'conditional,guard-none,8'],
    ['guard-none', 'guard-8-auto-renew', 'guard-conditional'],
  ],
])('npm run drill -- %j: the rows of the staircase of its drill, in their order', (args, rows) => {
  expect(readDrillOptions(['node', 'drill.ts', ...args]).rows).toEqual(rows);
});

test.each(['x', '4,5', ','])('LOCK_VERSION=%s, which names no one stage, is refused', (version) => {
  expect(refuse([], version)).toContain(`error: LOCK_VERSION=${version} is not allowed`);
});

test('a command reads an option in its own range, and has a default of its own', () => {
  const read = (args: string[]) =>
    newCommand('npm run x', 'Runs.', ['seconds'], { seconds: { read: numberFrom(0.1, 600), usual: 3 } })
      .parse(['node', 'x.ts', ...args])
      .opts();

  expect([read([]), read(['--seconds', '0.5'])]).toEqual([{ seconds: 3 }, { seconds: 0.5 }]);
  expect(refuseBy(() => read(['--seconds', '601']))).toMatch(/--seconds.*601/);
});

const read = (args: string[], version?: string) =>
  readRunOptions('npm start', 'Runs.', ['node', 'replay.ts', ...args], version);

test('the track of the orders: the rows of its story, whatever LOCK_VERSION says, or those that are named, in their order', () => {
  expect(read([], '4')).toMatchObject({ track: 'locks', stages: ['4-ttl'] });
  expect(read(['--track', 'orders'], '4')).toMatchObject({ track: 'orders', stages: storyRowsOf('orders') });
  const { stages, drills } = read(['--track', 'orders', '--stage', 'key-table,guard-none', '--drill', 'refund-twice']);
  expect(stages).toEqual(['guard-none', 'key-table']);
  expect(read(['--track', 'orders', '--stage', 'guard-4-ttl']).stages).toEqual(['guard-4-ttl']);
  expect(drills?.map(({ name }) => name)).toEqual(['refund-twice']);
});

test.each([
  [[], undefined, 500, 250],
  [['--units', '300'], undefined, 500, 300],
  [[], '4', 2_000, 1_000],
  [['--stage', '1'], undefined, 2_000, 1_000],
  [['--drill', 'rush'], undefined, 2_000, 1_000],
  [['--track', 'orders'], undefined, 2_000, 1_000],
])(
  'npm start -- %j, LOCK_VERSION=%s: %d sales in a rush, and %d units in a sell-out',
  (args, version, requests, units) => {
    expect(read(args, version).settings).toMatchObject({ requests, units });
  },
);

test('npm run grade: --drill names drills, checks of the contract, or both', () => {
  const readDrills = (...drills: string[]) => {
    const { drills: chosen, checks } = readGradeOptions(['node', 'grade.ts', 'a.ts', ...drills]);
    return { drills: chosen?.map(({ name }) => name), checks };
  };

  expect(readDrills()).toEqual({ drills: undefined, checks: checkNames });
  expect(readDrills('--drill', 'rush')).toEqual({ drills: ['rush'], checks: [] });
  expect(readDrills('--drill', 'contract-abort,rush')).toEqual({ drills: ['rush'], checks: ['contract-abort'] });
  expect(readDrills('--drill', 'contract-heap,contract-keys')).toEqual({
    drills: [],
    checks: ['contract-keys', 'contract-heap'],
  });
});

test('the workflow that grades a lock on every push runs what npm run grade takes', () => {
  const { on, jobs } = parse(readFileSync('docs/grade.yml', 'utf8'));
  const { run } = jobs.grade.steps.find((step: object) => 'run' in step);
  const [command, args] = run.split(' -- ');

  expect([on, command]).toEqual(['push', 'npm run grade']);
  expect(readGradeOptions(['node', 'grade.ts', ...args.split(' ')]).files).toEqual(['./my-lock.ts']);
});
