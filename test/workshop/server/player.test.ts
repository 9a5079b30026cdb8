import { afterAll, expect, test } from 'vitest';
import type { PlayCommand } from '../../../workshop/page/protocol.ts';
import { beatsOf } from '../../../workshop/picture/beats.ts';
import { createPlayer } from '../../../workshop/server/player.ts';
import { createNews } from './news.ts';

const news = createNews();
// A lease that is longer than a step takes on a machine that is busy.
const player = createPlayer({ leaseMs: 3_000, onChange: news.tell });
const refused = (command: PlayCommand) =>
  player.command(command).then(
    () => 'taken',
    (error) => [error.code, error.message],
  );
const READY = { is: 'ready', trouble: null };
const ready = expect.objectContaining(READY);

afterAll(async () => {
  await player.close();
  expect(player.read()).toMatchObject({ play: { is: 'over' }, controls: null });
});

test.each<[PlayCommand, string, RegExp]>([
  [{ do: 'play', stage: '9-magic', drill: 'rush' }, 'BAD_REQUEST', /no stage 9-magic/],
  [{ do: 'play', stage: '4-ttl', drill: 'hope' }, 'BAD_REQUEST', /no scenario hope/],
  [{ do: 'play', stage: '4-ttl', drill: 'amnesia' }, 'BAD_REQUEST', /no scenario amnesia/],
  [{ do: 'stop' }, 'NOTHING_PLAYED', /Nothing is playing/],
  [{ do: 'act', act: 'kill', at: 'node-1' }, 'NOT_FREE', /Start free play first/],
])('player: %j is refused', async (command, code, says) => {
  expect(await refused(command)).toEqual([code, expect.stringMatching(says)]);
  expect(player.read()).toEqual({ play: ready, controls: null, run: null });
});

test('player: a scenario is played to the verdict of npm run drill, and nothing else meanwhile', async () => {
  await player.command({ do: 'play', stage: '7-reentrant', drill: 'nested-call' });
  const busy = ['BUSY', 'Another run is in progress: stop it first.'];
  expect(await refused({ do: 'free', stage: '4-ttl' })).toEqual(busy);
  await player.ended();

  const { play, run } = player.read();
  expect(play).toMatchObject(READY);
  expect(run).toMatchObject({ number: 1, stage: '7-reentrant', place: 'redis', verdict: { verdict: 'pass' } });
  const said = run?.events.flatMap((event) => (event.kind === 'sentence' ? [event.sentence.form] : []));
  expect(said?.at(-1)).toBe('all ended');
});

test('player: free play is seen while it goes on; it is stopped, what was seen stays, and something else may be played', async () => {
  await player.command({ do: 'free', stage: '5-owner-check' });
  await news.until(() => player.read().play.is === 'free');
  await player.command({ do: 'act', act: 'hold-sale', at: 'node-1' });
  const sales = () => beatsOf(player.read().run?.events ?? [], 'redis').scenes.at(-1)?.sales ?? [];
  const inside = () => sales().flatMap(({ sale, place, read }) => (place === 'inside' ? [[sale, read]] : []));
  await news.until(() => inside()[0]?.[1] !== undefined);
  await player.command({ do: 'stop' });
  await player.ended();

  expect(player.read()).toMatchObject({ controls: null, run: { number: 2, drill: null, verdict: null } });
  expect(inside()).toEqual([['A', 1_000]]);
});
