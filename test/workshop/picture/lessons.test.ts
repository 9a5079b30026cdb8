import { describe, expect, test } from 'vitest';
import { languages } from '../../../loadtest/narration/language.ts';
import { readScenario } from '../../../loadtest/scenarios/read.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../../loadtest/worlds/simulated/playing.ts';
import { lockKey } from '../../../services/inventory/servers/store.ts';
import type { Lab } from '../../../simulation/lab.ts';
import { beatsOf, type Command, type Place } from '../../../workshop/picture/beats.ts';
import { type Fault, faults, type Knobs, type Lesson, lessons, limits } from '../../../workshop/picture/lessons.ts';
import { partsOf, sayOf, written, writtenReply } from '../../../workshop/picture/say.ts';
import { turningOf } from '../../../workshop/picture/turning.ts';

const plain = (text: string) => partsOf(text).join('');

/** What is shown of a page under a stage, and what is said of it. */
async function play(
  page: string,
  stage: string,
  { breaks, keeps }: Pick<Lesson, 'breaks' | 'keeps'>,
  place: Place = stage === '0-none' ? 'none' : stage === '1-in-process' ? 'node' : 'redis',
) {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    lab = opened;
    opened.watchRedis(lockKey('001', stage));
  };
  const { outcome } = await playDrill(asDrill(readScenario(page)), stage, { disturb });
  const { verdict } = outcome;
  const beats = beatsOf(playingIn(lab as Lab), place);
  const said = beats.beats.map((_, index) => sayOf(beats, index, { stage }));
  return { stage, verdict, beats, said, turning: turningOf(beats, { verdict, breaks, keeps }) };
}

type Played = Awaited<ReturnType<typeof play>>;

function textOf({ stage, verdict, beats: { beats }, said, turning }: Played, language: 0 | 1) {
  const lines = beats.map(({ command }, index) => {
    const [big, small] = Object.values(said[index] ?? {}).map((both) => plain(both[language]));
    const trip = command && `   [${written(command)} → ${writtenReply(command)}]`;
    const follows = small && `\n        ${small}`;
    return `${turning?.at === index ? (turning.isBad ? '✘' : '✔') : ' '} ${String(index + 1).padStart(2)}  ${big}${trip ?? ''}${follows}`;
  });
  return [`${stage}: ${verdict}`, ...lines].join('\n');
}

describe.each(lessons)('$stage', (lesson) => {
  const stages = [...(lesson.before ? [lesson.before] : []), lesson.stage];

  test('what is asked, what happens, and where it turns are as in its files (vitest FILE --update renews them)', async () => {
    const { problem, question, answers, right, change, after } = lesson;
    const page = lesson.page(lesson.usual);
    const played = await Promise.all(stages.map((stage) => play(page, stage, lesson)));
    for (const [at, language] of [...languages.entries()] as [0 | 1, string][]) {
      const asked = answers.map(({ text, why }, index) => `${index === right ? '✔' : '✘'} ${text[at]}\n  ${why[at]}`);
      const parts = [page, problem[at], [question[at], ...asked].join('\n')];
      const sides = played.flatMap((each, index) => [...(index > 0 ? [change[at]] : []), textOf(each, at)]);
      const text = [...parts, ...sides, after[at]].join('\n\n');
      await expect(`${text}\n`).toMatchFileSnapshot(`lessons/${lesson.stage}.${language}.txt`);
    }
    expect(played.map(({ turning }) => turning?.isBad)).toEqual(played.map(({ verdict }) => verdict === 'fail'));
    for (const { big, small } of played.flatMap(({ said }) => said)) for (const each of [big, small]) mustFit(each);
  });

  test('each answer says why it is right or wrong', () => {
    const { answers, right } = lesson;
    expect(answers[right]).toBeDefined();
    for (const { text, why } of answers) expect(text.concat(why)).not.toContain('');
  });
});

/** Two lines at 24 px beside the code, three on a phone. */
function mustFit([english, chinese]: readonly [string, string]) {
  expect(plain(english).length, english).toBeLessThanOrEqual(78);
  const width = [...plain(chinese)].reduce((sum, char) => sum + (char > '\u2e80' ? 1 : 0.5), 0);
  expect(width, chinese).toBeLessThanOrEqual(36);
}

const usual = (lessons[0] as Lesson).usual;
const pageOf = (knobs: Partial<Knobs>) => (lessons[0] as Lesson).page({ ...usual, ...knobs });

test('each page that the knobs can write can be read', () => {
  for (const fault of faults)
    for (const faultAt of [1, 2] as const)
      for (const nodes of [1, 2] as const)
        for (const buyers of [1, 2, 3, 4])
          for (const leaseMs of limits.leaseMs)
            for (const takesMs of limits.takesMs)
              expect(() => readScenario(pageOf({ fault, faultAt, nodes, buyers, leaseMs, takesMs }))).not.toThrow();
});

const harmed: [fault: Fault, faultAt: 1 | 2][] = [
  ['pause', 2],
  ['kill', 2],
  ['cut', 2],
];

test.each([...faults.map((fault) => [fault, 1] as const), ...harmed])(
  '%s at node-%i: it is played, and what happens is said, however long a lease and a sale last',
  async (fault, faultAt) => {
    for (const [leaseMs, takesMs, buyers] of [
      [limits.leaseMs[0], limits.takesMs[1], 4],
      [limits.leaseMs[1], limits.takesMs[0], 1],
    ] as const) {
      const { verdict, said } = await play(
        pageOf({ fault, faultAt, leaseMs, takesMs, buyers }),
        '4-ttl',
        lessons[4] as Lesson,
      );
      expect(['pass', 'fail']).toContain(verdict);
      for (const { big, small } of said) for (const each of [big, small]) mustFit(each);
      expect(said.flatMap(({ big, small }) => [...big, ...small]).join()).not.toMatch(/undefined|null|NaN/);
    }
  },
);

test('a sale that takes longer than its lease fails under stage 7, and holds under stage 8', async () => {
  const lesson = lessons[8] as Lesson;
  const verdicts = (takesMs: number) =>
    Promise.all(
      ['7-reentrant', '8-auto-renew'].map(
        async (stage) => (await play(lesson.page({ ...lesson.usual, takesMs }), stage, lesson)).verdict,
      ),
    );
  expect(await verdicts(450)).toEqual(['pass', 'pass']);
  expect(await verdicts(550)).toEqual(['fail', 'pass']);
});

test('under a semaphore several are inside, each with a permit: nobody holds the lock, and nothing is wrong about it', async () => {
  const wanted = { breaks: [], keeps: [] };
  const { beats, said } = await play(pageOf({ buyers: 4, takesMs: 600 }), 'semaphore', wanted, 'permits');
  const bigs = said.map(({ big: [english] }) => plain(english));
  expect(bigs).toEqual(expect.arrayContaining(['A got a permit.', 'B got a permit.', 'C returned its permit.']));
  expect(bigs).toContain('D asked for a permit, but none was left.');
  expect(bigs.join()).not.toMatch(/the lock/);
  expect(beats.beats.flatMap((beat) => beat.breaks)).toEqual([]);
});

test('who has learned that its lock is lost no longer thinks that it holds it', async () => {
  const lesson = lessons[9] as Lesson;
  const { beats, said } = await play(lesson.page(lesson.usual), '8-auto-renew', lesson);
  const learned = beats.beats.findIndex(({ command }) => command?.act === 'renew-refused');
  expect(beats.scenes[learned + 1]?.sales).toMatchObject([{ sale: 'A', knowsLoss: true }, { sale: 'B' }]);
  expect(
    said
      .slice(learned)
      .flatMap(({ small }) => plain(small[0]))
      .join(),
  ).not.toMatch(/thinks/);
});

test('a command is written as Redis reads it, and a script by its name', () => {
  const command = (name: string, verb: string, about: Command['about'], args: string[]): Command => ({
    ...{ name, verb, about, args, act: 'other', returned: null },
  });
  expect(written(command('SET', 'SET lock', 'lock', ['A', 'PX', '500', 'NX']))).toBe('SET lock A PX 500 NX');
  expect(written(command('SET', 'SET stock 99', 'stock', ['99']))).toBe('SET stock 99');
  expect(written(command('release-if-owner', 'release-if-owner', 'lock', ['A']))).toBe('release-if-owner A');
  expect([null, 0, 'OK', [1, null]].map((returned) => writtenReply({ returned }))).toEqual(['nil', '0', 'OK', '1 nil']);
});
