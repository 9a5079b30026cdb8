import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { readExercises } from '../../../exercises/workshop/exercise.ts';
import { openLockServers } from '../../../exercises/workshop/lock-servers.ts';
import type { RealJudge, RealVerdict } from '../../../exercises/workshop/real-judge.ts';
import { ownFile } from '../../exercises/attempted.ts';

/** So many sets of servers, each of which goes from exercise to exercise, as that of a workshop does. The drills mostly wait. */
const SETS = 2;
const free = Array.from({ length: SETS }, () => openLockServers(() => {}));
const all = [...free];
const waiting: ((servers: RealJudge) => void)[] = [];
afterAll(async () => {
  for (const servers of all) await servers.close();
});

/** Does something with servers that nobody else uses meanwhile. */
async function withServers<T>(work: (servers: RealJudge) => Promise<T>): Promise<T> {
  const servers = free.pop() ?? (await new Promise<RealJudge>((resolve) => waiting.push(resolve)));
  try {
    return await work(servers);
  } finally {
    const next = waiting.shift();
    if (next) next(servers);
    else free.push(servers);
  }
}

const exercises = readExercises().filter(({ settings }) => settings.judge === 'search' && settings.drills.length > 0);
const unsolved = exercises.filter(({ settings }) => settings.fails.drill !== undefined);

async function play(
  exercise: (typeof exercises)[number],
  file: string,
): Promise<Pick<RealVerdict, 'drill' | 'verdict' | 'reason'>[]> {
  const { signal } = new AbortController();
  const run = { file, signal, onDrill() {}, onVerdict() {}, narrate() {} };
  const verdicts = await withServers((servers) => servers.run(exercise, run));
  return verdicts.map(({ drill, verdict, reason }) => ({ drill, verdict, reason }));
}

describe.concurrent('exercises on real servers', () => {
  test.each(unsolved)(
    '$name: before anybody changes it, it fails the drill that it names, and holds those before',
    async (exercise) => {
      const { drills, fails } = exercise.settings;
      const before = drills.slice(0, drills.indexOf(fails.drill as string));

      expect(await play(exercise, exercise.original)).toEqual([
        ...before.map((drill) => ({ drill, verdict: 'pass', reason: expect.any(String) })),
        { drill: fails.drill, verdict: 'fail', reason: expect.any(String) },
      ]);
    },
  );

  test.each(exercises)('$name: solved, it holds every drill', async (exercise) => {
    const all = exercise.settings.drills.map((drill) => ({ drill, verdict: 'pass', reason: expect.any(String) }));
    expect(await play(exercise, exercise.solution)).toEqual(all);
  });

  test('03: a call that is returned and not awaited keeps as much, and that is caught', async () => {
    const [exercise] = exercises.filter(({ number }) => number === 3);
    if (exercise === undefined) throw new Error('There is no exercise 03.');
    const text = readFileSync(exercise.original, 'utf8');
    const file = ownFile('returned', text.replace('    await acquire(signal);', '    return acquire(signal);'));
    expect(readFileSync(file, 'utf8')).toContain('return acquire');
    expect(await play(exercise, file)).toMatchObject([{ drill: 'long-wait', verdict: 'fail' }]);
  });

  test.each([
    ['exits', 'process.exit(7);', /node-\d ended with exit code 7/],
    ['blocks its process', 'for (;;);', /stopped answering/],
    ['throws', "throw new Error('no luck');", /no luck/],
  ])('a lock that %s fails with a sentence, and the next one is judged on new nodes', async (what, acquire, reason) => {
    const [exercise] = exercises.filter(({ number }) => number === 4);
    if (exercise === undefined) throw new Error('There is no exercise 04.');
    const text = `export const createLock = () => ({ async acquire() { ${acquire} }, async release() {} });\n`;
    const file = ownFile(what.replaceAll(' ', '-'), text);
    expect(await play(exercise, file)).toEqual([
      { drill: 'crashed-holder', verdict: 'fail', reason: expect.stringMatching(reason) },
    ]);
    expect(await play(exercise, exercise.solution)).toMatchObject([{ verdict: 'pass' }]);
  });
});
