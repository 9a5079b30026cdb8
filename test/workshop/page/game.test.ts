import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { proveCell } from '../../../prove/cell.ts';
import { projectDir } from '../../../stack/parts.ts';
import { openGame } from '../../../workshop/page/game.ts';
import { saying } from '../../../workshop/page/line-marks.ts';
import { levels } from '../../../workshop/page/view/levels.ts';
import { beatsOf } from '../../../workshop/picture/beats.ts';

const fileOf = (stage: string) => resolve(projectDir, stage === 'fenced' ? 'locks/beyond' : 'locks', `${stage}.ts`);

test.each([
  ['4-ttl', 'slow-holder'],
  ['5-owner-check', 'late-release'],
  ['fenced', 'late-write'],
])(
  '%s, %s: the game ends where the search ends, and counts the orders that the search counts',
  async (stage, scope) => {
    const size = { file: fileOf(stage), scope, processes: 2, sales: 1 };
    const { schedules, counterexample, why } = await proveCell({
      ...size,
      stage,
      masters: 0,
      budget: {},
    });
    const game = await openGame(size);

    const { orders, broken, nearest } = await game.orders([]);

    if (counterexample === undefined) expect({ orders, broken }).toEqual({ orders: schedules, broken: 0 });
    else {
      expect(nearest).toBe(counterexample.length);
      expect(await game.follow(counterexample)).toMatchObject({ broken: why, moves: [] });
    }
  },
);

const small = levels.filter(({ stage }) => !/^[0478]/.test(stage));

test.each(small)('$stage, $scope: a way to the end', async (level) => {
  const game = await openGame({ ...level, file: fileOf(level.stage) });
  const way: number[] = [];
  let now = await game.stand(way);
  while (now.moves.length > 0) {
    way.push((await game.orders(way)).next ?? 0);
    now = await game.stand(way);
  }

  const steps = now.events.flatMap((event) => (event.kind === 'sentence' ? [event.sentence.form] : []));
  expect(steps).toHaveLength(way.length);
  expect(new Set(steps)).toEqual(new Set(['made', 'made, with a reply']));
  expect(now.broken !== undefined).toBe(level.stage !== 'fenced');
});

test('a reply that is read later has a beat of its own, and a lease has as much left as the clock says', async () => {
  const game = await openGame({ ...(levels[4] as (typeof levels)[number]), file: fileOf('4-ttl') });
  const { beats, scenes } = beatsOf((await game.stand([0, 0, 0])).events, 'redis');

  expect(beats.map(({ kind }) => kind)).toEqual(['come', 'command', 'reads', 'end']);
  expect(scenes.at(-2)?.sales).toMatchObject([{ sale: 'A', place: 'inside' }]);
  const { at = 0, lock } = scenes.at(-2) ?? {};
  expect(Math.round((lock?.endsAt ?? 0) - at)).toBe(beats[1]?.leaseMs);
});

test('a lock says which line it is at, and each line stays where it is', () => {
  const source = 'async function acquire() {\n  if ((await ask()) === 1)\n    return;\n  await sleep(1);\n}';
  expect(saying(source)).toBe(
    'async function acquire() {\n  $line(2);if ((await ($line(2), ask())) === 1)\n    return;\n  $line(4);await ($line(4), sleep(1));\n}',
  );
  expect(saying('const half = (')).toBe('const half = (');
});
