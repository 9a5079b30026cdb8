import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { storyRowsOf } from '../../../loadtest/run/tracks.ts';
import { ofLocks } from '../../../loadtest/sentences/vocabulary.ts';
import { checkNames } from '../../../loadtest/staircase/conformance.ts';
import { readSaid } from '../../../loadtest/worlds/foreign/said.ts';
import { foreignDrills } from '../../../loadtest/worlds/foreign/world.ts';
import { newCommand, numberFrom } from '../../../scripts/command-line/command.ts';
import { readJudgeOptions } from '../../../scripts/command-line/judge-options.ts';
import { readDrillOptions, readGradeOptions, readRunOptions } from '../../../scripts/command-line/run-options.ts';
import { type Lesson, lessons } from '../../../workshop/picture/lessons.ts';
import { printedAtEnd } from '../../exits.ts';

const read = (args: string[], version?: string) => readRunOptions('start', ['node', 'start.ts', ...args], version);
const running = ['--url', 'http://127.0.0.1:1', '--lab', 'http://127.0.0.1:2,http://127.0.0.1:3'];
const readers: Record<string, (args: string[]) => unknown> = {
  start: read,
  'run staircase': (args) => readRunOptions('staircase', ['node', 'staircase.ts', ...args]),
  'run grade': (args) => readGradeOptions(['node', 'grade.ts', ...args]),
  'run drill': (args) => readDrillOptions(['node', 'drill.ts', ...args]),
  'run judge': (args) => readJudgeOptions(['node', 'judge.ts', ...args]),
};

test.each<[command: string, args: string[], line: RegExp]>([
  ['start', ['--stage', ''], /--stage {2}is unknown: it must be a number from 0 to 8/],
  ['start', ['--track', 'orders', '--stage', ''], /--stage {2}is unknown: it must be guard-none, /],
  ['start', ['--stage', '9'], /--stage.*9.*a number from 0 to 8/s],
  ['start', ['--stage', '4,fence'], /--stage fence is unknown\. Did you mean fenced\?\n$/],
  ['start', ['--drill', 'rush,late-relase'], /--drill late-relase is unknown\. Did you mean late-release\?\n$/],
  ['start', ['--drill', 'nap'], /--drill.*nap.*one-node-rush, rush, sell-out.*crashed-holder.*failover/s],
  ['start', ['--drill', 'sell-out', '--units', '10', '--connections', '30'], /30 is more than the 20 buyers/],
  ['start', ['--lease', '99'], /--lease.*99.*at least 100 ms/s],
  ['start', ['--url', 'http://127.0.0.1:1'], /--url needs --lab, and --lab needs --url/],
  ['start', ['--track', 'orders', '--stage', 'nap'], /--stage nap.*guard-none, guard-in-process.*key-none.*key-table/],
  ['start', ['--nodes', '1'], /--nodes.*1.*a whole number from 2 to 16/s],
  ['start', ['--nodes', '17'], /--nodes.*17.*a whole number from 2 to 16/s],
  ['start', ['--nodes', '4', '--track', 'orders'], /--nodes 4: the drills of orders use two nodes/],
  ['start', ['--nodes', '4', '--drill', 'failover'], /--nodes 4: step-by-step drills use two nodes/],
  ['start', ['--nodes', '4', ...running], /--nodes 4: --lab already names the nodes of the running stack/],
  ['start', ['--nodes', '9', '--requests', '8', '--connections', '8'], /--nodes 9 is more than --requests 8/],
  ['start', ['--nonsense'], /unknown option/],
  ['start', ['--lang', 'zhh'], /--lang zhh is not known\. Did you mean zh\?\n$/],
  ['run drill', ['late-release', '--stage', '5', '--lang', 'de'], /--lang de is not known: it must be en or zh\n$/],
  ['run judge', ['./shop', '--lang', 'fr'], /--lang fr is not known: it must be en or zh\n$/],
  ['run staircase', ['--nodes', '4'], /--nodes 4: simulated time has two nodes: add --real/],
  ['run drill', ['nested-call', '--stage', '4', '--nodes', '4'], /unknown option '--nodes'/],
  ['run grade', [], /name a module, such as .*, or a package, such as redlock@5, or use --libraries or --new/],
  ['run grade', ['a.ts', 'b/a.ts'], /two locks are called a/],
  ['run grade', ['--new', 'a.ts', './b.ts'], /--new grades nothing/],
  ['run grade', ['--new', 'a.ts', '--libraries'], /--new grades nothing/],
  ['run grade', ['--lock', 'x', './a.ts'], /--lock needs a package/],
  ['run grade', ['--lock', 'x', '--libraries'], /--lock needs a package/],
  ['run drill', ['no-such-drill', '--stage', '4'], /no drill no-such-drill: it must be one of .*, course-figure/],
  ['run drill', ['late-relase', '--stage', '5'], /there is no drill late-relase\. Did you mean late-release\?\n$/],
  ['run drill', ['late-release'], /--stage is missing: name stages, as in --stage 5-owner-check\n$/],
  ['run drill', ['nested-call', '--stage', 'none'], /--stage none is unknown\. Did you mean 0-none\?\n$/],
  ['run drill', ['double-restore', '--stage', 'x'], /--stage x is unknown: it must be guard-none, /],
  ['run judge', [], /give either a command, such as .*, or --url/],
  ['run judge', ['php', 'shop.php'], /too many arguments.*Expected 1 argument but got 2/],
  ['run judge', ['./shop', '--drill', 'rush,nap'], /--drill.*nap.*one-node-rush, rush, sell-out.*failover/s],
  ['run judge', ['./shop', '--drill', 'nested-call'], /--drill.*nested-call.*one-node-rush/s],
  ['run judge', ['./shop', '--sale', '/buy'], /"\/buy" does not say how to buy a unit\. Write it as "POST \/buy"/],
  ['run judge', ['./shop', '--sale', 'POST /buy {'], /The body in POST \/buy \{ is not JSON/],
  ['run judge', ['./shop', '--name', '4-ttl'], /--name 4-ttl is the name of a built-in row: choose another/],
  ['run judge', ['./fenced'], /--name fenced is the name of a built-in row: choose another/],
  ['run judge', ['./shop', '--name', 'my shop'], /--name my shop must consist of letters, digits, dots and dashes/],
  ['run judge', ['./shop', '--lease-ms', '0'], /--lease-ms.*0.*a whole number from 1 to/s],
  ['run judge', ['docs'], /docs is a folder without a lockstep\.json\. Pass a command, such as/],
])('npm %s -- %j: refused with exit code 2 and a line that says what is allowed', async (command, args, line) => {
  const said = await printedAtEnd(() => readers[command]?.(args));
  expect(said).toMatch(line);
  expect(said.trim().split('\n')).toHaveLength(1);
});

describe('language', () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    { args: ['--lang', 'zh'], language: 'zh' },
    { args: ['--lang', 'zh-CN'], LC_ALL: 'en_US.UTF-8', language: 'zh' },
    { args: ['--lang', 'en'], LC_ALL: 'zh_CN.UTF-8', language: 'en' },
    { args: [], LC_ALL: 'zh_CN.UTF-8', LANG: 'en_US.UTF-8', language: 'zh' },
    { args: [], LC_MESSAGES: 'zh_TW', LANG: 'en_US.UTF-8', language: 'zh' },
    { args: [], LANG: 'zh_CN.UTF-8', language: 'zh' },
    { args: [], LC_ALL: 'C', LANG: 'zh_CN.UTF-8', language: 'en' },
    { args: [], LANG: 'de_DE.UTF-8', language: 'en' },
    { args: [], language: 'en' },
  ])('%j', ({ args, LC_ALL = '', LC_MESSAGES = '', LANG = '', language }) => {
    for (const [name, value] of Object.entries({ LC_ALL, LC_MESSAGES, LANG })) vi.stubEnv(name, value);
    expect(read(args)).toMatchObject({ language });
  });
});

test('npm run drill without a name: an example, and every drill', async () => {
  const [example, ...lists] = (await printedAtEnd(() => readers['run drill']?.([]))).trim().split('\n');
  expect(example).toBe('error: name a drill, as in npm run drill -- crashed-holder --stage 3');
  expect(lists).toEqual([
    expect.stringMatching(/^ {2}of a lock: .*, late-release, /),
    expect.stringMatching(/^ {2}of the orders: .*, refund-twice, /),
    expect.stringMatching(/^ {2}in no table: course-figure, /),
  ]);
});

test('--nodes is for all stacks of a run; --lab names two nodes of a stack that runs, or more', async () => {
  expect(read(['--nodes', '10'])).toMatchObject({ nodes: 10 });
  expect(read(['--nodes', '4', '--drill', 'rush,failover'])).toMatchObject({ nodes: 4 });
  const labs = ['http://127.0.0.1:2', 'http://127.0.0.1:3', 'http://127.0.0.1:4'];
  expect(read(['--url', 'http://127.0.0.1:1', '--lab', labs.join()]).running?.labUrls).toEqual(labs);
  expect(await printedAtEnd(() => read(['--lab', labs[0] ?? '']))).toMatch(/--lab.*all nodes, two or more/);
});

test.each(['http://user:s3cret@h:1', 'http//user:s3cret@h', 'http://h:0/s3cret', 's3cret'])(
  '--url and --lab %s: refused with exit code 2, and not shown: it may have a password',
  async (address) => {
    for (const option of ['--url', '--lab']) {
      const said = await printedAtEnd(() => read([option, address]));
      expect(said).toMatch(new RegExp(`${option}.* is invalid\\. It must be an address such as`));
      expect(said).not.toContain('s3cret');
    }
  },
);

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

test('npm run drill -- ./my.txt: a page of one’s own is a drill that is called as its file; one that can’t be read is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-'));
  const [good, bad] = ['my.txt', 'bad.txt'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(good, (lessons[8] as Lesson).page((lessons[8] as Lesson).usual));
  writeFileSync(bad, 'nothing');
  const { drill, rows } = readDrillOptions(['node', 'drill.ts', good, '--stage', '7']);
  expect([drill.name, rows]).toEqual(['my', ['7-reentrant']]);
  expect(await printedAtEnd(() => readDrillOptions(['node', 'drill.ts', bad, '--stage', '7']))).toContain(`${bad}: `);
});

test('npm run drill -- --sentences: every sentence of the scenarios, and no drill is played', () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit code ${code}`);
  });
  try {
    expect(() => readers['run drill']?.(['--sentences'])).toThrow('exit code 0');
    const lines = log.mock.calls.join('').split('\n');
    const { steps, demands } = ofLocks;
    for (const { form } of steps) expect(lines).toContain(`  ${form}`);
    for (const { form } of demands) expect(lines).toContain(`  holds when ${form}`);
  } finally {
    exit.mockRestore();
    log.mockRestore();
  }
});

test.each(['x', '4,5', ','])('LOCK_VERSION=%s, which names no one stage, is refused', async (version) => {
  expect(await printedAtEnd(() => read([], version))).toContain(`error: LOCK_VERSION=${version} is not allowed`);
});

test('a command reads an option in its own range, and has a default of its own', async () => {
  const readSeconds = (args: string[]) =>
    newCommand('bench', ['seconds'], { seconds: { read: numberFrom(0.1, 600), usual: 3 } })
      .parse(['node', 'x.ts', ...args])
      .opts();

  expect([readSeconds([]), readSeconds(['--seconds', '0.5'])]).toEqual([{ seconds: 3 }, { seconds: 0.5 }]);
  expect(await printedAtEnd(() => readSeconds(['--seconds', '601']))).toMatch(/--seconds.*601/);
});

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

test('npm run judge: what is said on the command line goes before what is said in the folder', async () => {
  const dir = resolve('examples/python');
  const options = readJudgeOptions(['node', 'judge.ts', dir, '--sale', 'POST /buy {"n":1}', '--name', 'mine']);

  expect(options).toMatchObject({ longestWaitMs: 4_000, doesSave: false, drills: foreignDrills });
  expect(options.service).toMatchObject({ dir, name: 'mine', sale: { method: 'POST', path: '/buy', json: '{"n":1}' } });
  expect(options.service.command).toBe(readSaid(dir, '/').command);
  const mistyped = await printedAtEnd(() => readJudgeOptions(['node', 'judge.ts', './shop', '--stok', 'a']));
  expect(mistyped).toMatch(/unknown option '--stok'.*Did you mean --stock/s);
  expect(readJudgeOptions(['node', 'judge.ts', './shop', '--drill', 'rush', '--save'])).toMatchObject({
    service: { command: './shop', name: 'shop' },
    doesSave: true,
    drills: ['rush'],
  });
});

test('the workflow that grades a lock on every push runs what npm run grade takes', () => {
  const { on, jobs } = parse(readFileSync('docs/how-to/grade.yml', 'utf8'));
  const { run } = jobs.grade.steps.find((step: object) => 'run' in step);
  const [command, args] = run.split(' -- ');

  expect([on, command]).toEqual(['push', 'npm run grade']);
  expect(readGradeOptions(['node', 'grade.ts', ...args.split(' ')]).files).toEqual(['./my-lock.ts']);
});
