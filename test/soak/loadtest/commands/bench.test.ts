import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchSchema } from '../../../../loadtest/bench/results.ts';
import { seconds, waiterList } from '../../../../loadtest/commands/bench-options.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { sampleBench } from '../../../loadtest/bench/sample-bench.ts';
import {
  type CommandUnderTest,
  concurrentCommand,
  type Meanwhile,
} from '../../../loadtest/commands/command-under-test.ts';
import { startRedis } from '../../../services/inventory/node-under-test.ts';

/** Each fills the machine. */
const run = concurrentCommand('loadtest/commands/bench.ts', 1);

/** Runs the bench, and reads its results if it has written any. */
async function bench(args: string[], options: Omit<Meanwhile<unknown>, 'read'> = {}) {
  const { read, ...ended } = await run(args, { ...options, read: readBench });
  return { ...ended, ...read };
}

function readBench({ reports }: CommandUnderTest) {
  const file = (name: string) => join(reports, 'latest-bench', name);
  const results = existsSync(file('bench.json'))
    ? benchSchema.parse(JSON.parse(readFileSync(file('bench.json'), 'utf8')))
    : undefined;
  return { results, hasPage: existsSync(file('bench.html')) };
}

/** The spinners among the processes of a bench. */
const spinnersOf = (command: CommandUnderTest) => command.leftovers().filter((line) => line.includes('spinner.mjs'));

const tiny = ['--waiters', '10', '--seconds', '0.3', '--rounds', '1'];

describe('npm run bench', { timeout: 300_000 }, () => {
  test('measures a lock of ours and a published mutex of one process, and sees that the mutex lost updates', async () => {
    let spinning: string[] = [];
    const { code, stdout, stderr, results, hasPage } = await bench([...tiny, '--only', '6,async-mutex'], {
      loadsModules: true,
      async meanwhile(command) {
        // The second turn is under way.
        await command.prints(/6-lua-release .* per second/);
        spinning = spinnersOf(command);
      },
    });

    expect({ code, stderr, hasPage }).toEqual({ code: 0, stderr: '', hasPage: true });
    expect(stdout).toMatch(/Round 1 of 1, 2 processes × 10 waiters\n.*6-lua-release .* per second/);
    // None is left: that is looked at after every bench.
    expect(spinning).toHaveLength(availableParallelism());
    expect(stdout).toContain(`CPUs kept awake: by ${availableParallelism()} spinner`);
    expect(results?.settings.spinners?.count).toBe(availableParallelism());
    expect(results?.contestants.map(({ name, kind }) => [name, kind])).toEqual([
      ['6-lua-release', 'ours'],
      ['peer:async-mutex', 'peer'],
    ]);
    const [ours, mutex] = results?.turns.map(({ figures }) => figures) ?? [];
    expect(ours).toMatchObject({ lostUpdates: 0, errors: 0 });
    expect(ours?.perSecond).toBeGreaterThan(0);
    // SET NX, the script with its GET and DEL, and the two of the section: few acquisitions cost less than all six.
    expect(ours?.commandsPerAcquisition).toBeGreaterThan(5);
    expect(ours?.cpuMicros?.processes).toBeGreaterThan(5);
    expect(ours?.cpuMicros?.redis).toBeGreaterThan(5);
    expect(ours?.waitMs?.max).toBeGreaterThanOrEqual(ours?.waitMs?.p99 ?? Number.NaN);
    expect(mutex?.lostUpdates).toBeGreaterThan(0);
    expect(results?.ratios).toEqual({});
  });

  test('a lock whose commands Redis lacks: its turn says so, and that is no failure of the run', async ({ skip }) => {
    skip(!(await lacksDeleting((await startRedis()).url)));

    const { code, results } = await bench([...tiny, '--only', 'delete-if-equal']);

    expect(code).toBe(0);
    expect(results?.turns).toEqual([
      { round: 1, waiters: 10, name: 'delete-if-equal', failure: expect.stringMatching(lackOfDeleting) },
    ]);
  });

  test('--json prints the results and nothing else; the ceilings cost the section alone', async () => {
    const ceilings = ['--only', 'serial-ceiling,handover-ceiling'];
    const { code, stdout } = await bench([...tiny, ...ceilings, '--no-spinners', '--json']);

    expect(code).toBe(0);
    const { turns, settings } = benchSchema.parse(JSON.parse(stdout));
    expect(turns.map(({ name }) => name)).toEqual(['serial-ceiling', 'handover-ceiling']);
    expect(settings.spinners).toBeNull();
    for (const { figures } of turns) {
      expect(figures).toMatchObject({ lostUpdates: 0, errors: 0 });
      // One GET and one SET.
      expect(figures?.commandsPerAcquisition).toBeCloseTo(2, 0);
    }
  });

  test('--no-spinners: no process keeps a CPU awake, and the bench says so', async () => {
    let spinning: string[] | undefined;
    const { code, stdout } = await bench([...tiny, '--only', 'serial-ceiling', '--no-spinners'], {
      async meanwhile(command) {
        await command.prints(/Round 1/);
        spinning = spinnersOf(command);
      },
    });

    expect({ code, spinning }).toEqual({ code: 0, spinning: [] });
    expect(stdout).toContain('CPUs kept awake: no, they may sleep (--no-spinners).');
  });

  test('SIGKILL in the middle of a turn: the spinners end, and nothing is left', async () => {
    let spinning: string[] = [];
    const { code, results } = await bench(['--only', '6', '--seconds', '60'], {
      async meanwhile(command) {
        await command.prints(/Round 1/);
        spinning = spinnersOf(command);
        command.child.kill('SIGKILL');
      },
    });

    expect({ code, results }).toEqual({ code: null, results: undefined });
    expect(spinning).toHaveLength(availableParallelism());
  });

  test('Ctrl-C in the middle of a turn: exit code 2, and nothing is left', async () => {
    const { code, stderr, results } = await bench(['--only', '6', '--seconds', '60'], {
      async meanwhile(command) {
        await command.prints(/Round 1/);
        command.child.kill('SIGINT');
      },
    });

    expect({ code, stderr, results }).toEqual({ code: 2, stderr: '', results: undefined });
  });

  test('--http: a published lock sells through nginx, as ours do', async () => {
    const { code, stderr, results } = await bench(
      // A tick of /proc is 10 ms: fewer sales may cost nginx less than that.
      ['--http', '--only', 'http-ceiling,cohort,peer:redis-semaphore', '--requests', '2000', ...tiny],
      { loadsModules: true },
    );

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(results?.contestants.map(({ name, kind }) => [name, kind])).toEqual([
      ['http-ceiling', 'ceiling'],
      ['cohort', 'ours'],
      ['peer:redis-semaphore', 'peer'],
    ]);
    expect(results?.turns.map(({ figures }) => [figures?.sections, figures?.lostUpdates, figures?.errors])).toEqual([
      [2_000, 0, 0],
      [2_000, 0, 0],
      [2_000, 0, 0],
    ]);
    const [ceiling, cohort] = results?.turns.map(({ figures }) => figures) ?? [];
    // The harness asks the node a question or two meanwhile.
    expect(ceiling?.commandsPerAcquisition).toBeLessThan(1);
    expect(cohort?.commandsPerAcquisition).toBeGreaterThan(1);
    for (const { figures } of results?.turns ?? []) expect(figures?.cpuMicros?.processes).toBeGreaterThan(50);
    if (process.platform === 'linux') expect(cohort?.cpuMicros?.nginx).toBeGreaterThan(10);
    expect(cohort?.cpuMicros?.redis).toBeGreaterThan(5);
  });

  test('--orders: the same rush without and with an order for each sale, and what is left of its pace', async () => {
    const { code, stderr, results } = await bench(['--orders', '--only', 'cohort', '--requests', '200', ...tiny]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(results?.mode).toBe('http');
    expect(results?.turns.map(({ name, figures }) => [name, figures?.sections, figures?.lostUpdates])).toEqual([
      ['cohort', 200, 0],
      ['cohort+orders', 200, 0],
    ]);
    expect(results?.ratios['cohort+orders/cohort@10']?.value).toBeGreaterThan(0);
    expect(results?.environment.backends['mysql']).toMatch(/\d/);
  });

  test('--compare: 0 when the ratios of two runs agree, 1 when they do not, 2 when one can not be read', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'compared-'));
    try {
      const file = (name: string) => join(dir, name);
      const slower = sampleBench(({ ratios }) => {
        for (const ratio of Object.values(ratios)) ratio.value /= 2;
      });
      writeFileSync(file('one.json'), JSON.stringify(sampleBench()));
      writeFileSync(file('two.json'), JSON.stringify(slower));
      writeFileSync(file('three.json'), '{}');
      const codes = [];
      for (const other of ['one.json', 'two.json', 'three.json']) {
        const { code, stdout, stderr } = await bench(['--compare', file('one.json'), file(other)]);
        codes.push(code);
        expect(`${stdout}${stderr}`).toMatch(
          /5 of 5 ratios within 20 %|0 of 5 ratios within|three\.json is no bench\.json/,
        );
      }
      expect(codes).toEqual([0, 1, 2]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test.each([
    { args: ['--only', 'no-such-lock'], says: /--only no-such-lock is not known: it must be one of serial-ceiling, / },
    { args: ['--rounds', '0'], says: /'--rounds <n>' argument '0' is invalid. It must be a whole number/ },
    { args: ['--http', '--waiters', '5000'], says: /--waiters 5000 is too many for --requests 4000/ },
  ])('2: $args is not allowed', async ({ args, says }) => {
    const { code, stdout, stderr } = await bench(args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });

  test('--orders: 2 when a MySQL is given, which is left as it is', async () => {
    const env = { MYSQL_URL: 'mysql://root@127.0.0.1:1/shop' };
    const { code, stdout, stderr } = await bench(['--orders', ...tiny], { env });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'The bench could not be run: The MySQL that MYSQL_URL names is not ours to empty: with MYSQL_URL= one is started.\n',
    );
  });
});

test.each(['0', '0.05', '-1', '601', 'x', '1e2', ''])('--seconds %s is not allowed', (value) => {
  expect(() => seconds(value)).toThrow('It must be a number from 0.1 to 600.');
});

test.each(['0', '1.5', '10,', 'x', '10001'])('--waiters %s is not allowed', (value) => {
  expect(() => waiterList(value)).toThrow('It must be');
});

test('--waiters: each once, in rising order', () => {
  expect(waiterList('100, 10,100')).toEqual([10, 100]);
});
