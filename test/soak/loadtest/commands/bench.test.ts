import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { type BenchResults, benchSchema } from '../../../../loadtest/bench/results.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { type CommandUnderTest, leavesNothing, ownCommands } from '../../../loadtest/commands/command-under-test.ts';
import { startRedis } from '../../../services/inventory/node-under-test.ts';

const file = 'loadtest/commands/bench.ts';
const start = ownCommands(file);
/** Published locks are modules that are TypeScript, which a bundle can't load. */
const startFromSources = ownCommands();
const tiny = ['--waiters', '10', '--seconds', '0.3', '--rounds', '1'];

/** The spinners among the processes of a bench. None is left after it: that is looked at after every test. */
const spinnersOf = (command: CommandUnderTest) => command.leftovers().filter((line) => line.includes('spinner.mjs'));

async function measure(args: string[]): Promise<BenchResults> {
  const hasPeers = args.some((arg) => /async-mutex|peer:/.test(arg));
  const command = (hasPeers ? startFromSources : start)(file, [...args, '--json']);
  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stderr()).toBe('');
  return benchSchema.parse(JSON.parse(command.stdout()));
}

test('npm run bench: a lock of ours, and a published mutex of one process, which loses updates', async () => {
  const { contestants, turns, settings } = await measure([...tiny, '--only', '6,async-mutex']);

  expect(contestants.map(({ name, kind }) => [name, kind])).toEqual([
    ['6-lua-release', 'ours'],
    ['peer:async-mutex', 'peer'],
  ]);
  const [ours, mutex] = turns.map(({ figures }) => figures);
  expect(ours).toMatchObject({ lostUpdates: 0, errors: 0 });
  expect(ours?.perSecond).toBeGreaterThan(0);
  // SET NX, the script with its GET and DEL, and the two of the section.
  expect(ours?.commandsPerAcquisition).toBeGreaterThan(5);
  expect(mutex?.lostUpdates).toBeGreaterThan(0);
  expect(settings.spinners?.count).toBe(availableParallelism());
});

test('npm run bench: a lock whose commands Redis lacks is not measured, and its turn says why', async ({ skip }) => {
  const { url } = await startRedis();
  skip(!(await lacksDeleting(url)));
  const { turns } = await measure([...tiny, '--only', 'delete-if-equal']);

  const failure = expect.stringMatching(lackOfDeleting);
  expect(turns).toEqual([{ round: 1, waiters: 10, name: 'delete-if-equal', failure }]);
});

test('npm run bench --no-spinners: no process keeps a CPU awake; the ceilings cost the section alone', async () => {
  const { turns, settings } = await measure([...tiny, '--only', 'serial-ceiling,handover-ceiling', '--no-spinners']);

  expect(settings.spinners).toBeNull();
  for (const { figures } of turns) {
    expect(figures).toMatchObject({ lostUpdates: 0, errors: 0 });
    // One GET and one SET.
    expect(figures?.commandsPerAcquisition).toBeCloseTo(2, 0);
  }
});

test('npm run bench: SIGKILL in the middle of a turn ends its spinners, too', async () => {
  const command = start(file, ['--only', '6', '--seconds', '60']);
  await command.prints(/Round 1/);
  expect(spinnersOf(command)).toHaveLength(availableParallelism());
  command.child.kill('SIGKILL');
  await leavesNothing(command);
});

test('npm run bench --http: a published lock sells through nginx, as ours do', async () => {
  // A tick of /proc is 10 ms: fewer sales may cost nginx less than that.
  const { turns } = await measure([
    ...['--http', '--only', 'http-ceiling,cohort,peer:redis-semaphore', '--requests', '2000', ...tiny],
  ]);

  for (const { figures } of turns) expect(figures).toMatchObject({ sections: 2_000, lostUpdates: 0, errors: 0 });
  const [ceiling, cohort] = turns.map(({ figures }) => figures);
  // The harness asks the node a question or two meanwhile.
  expect(ceiling?.commandsPerAcquisition).toBeLessThan(1);
  expect(cohort?.commandsPerAcquisition).toBeGreaterThan(1);
  if (process.platform === 'linux') expect(cohort?.cpuMicros?.nginx).toBeGreaterThan(10);
  expect(cohort?.cpuMicros?.redis).toBeGreaterThan(5);
});

test('npm run bench --orders: the same rush without and with an order for each sale, and what is left of its pace', async () => {
  const { turns, ratios } = await measure(['--orders', '--only', 'cohort', '--requests', '200', ...tiny]);

  expect(turns.map(({ name, figures }) => [name, figures?.sections, figures?.lostUpdates])).toEqual([
    ['cohort', 200, 0],
    ['cohort+orders', 200, 0],
  ]);
  expect(ratios['cohort+orders/cohort@10']?.value).toBeGreaterThan(0);
});

test.each([
  { args: ['--only', 'no-such-lock'], env: {}, says: /--only no-such-lock is not known: it must be one of serial-/ },
  { args: ['--http', '--waiters', '5000'], env: {}, says: /--waiters 5000 is too many for --requests 4000/ },
  { args: ['--orders'], env: { MYSQL_URL: 'mysql://root@127.0.0.1:1/shop' }, says: /names is not ours to empty/ },
])('npm run bench $args: 2, and a line that says why', async ({ args, env, says }) => {
  const command = start(file, args, env);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(says);
});
