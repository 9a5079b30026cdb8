import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveState, Order } from '../../../../live/contract.ts';
import { createPlayer } from '../../../../live/server/player.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

const LEASE_MS = 600;
let changes = 0;
const player = createPlayer({ leaseMs: LEASE_MS, onChange: () => (changes += 1) });
const stateIs = (wanted: LiveState['play']['is']) =>
  until(`it is ${wanted}`, async () => player.read().play.is === wanted);
const [first, second] = [() => player.read().views[0], () => player.read().views[1]];
const refused = (order: Order) =>
  player.order(order).then(
    () => 'taken',
    (error) => [error.code, error.message],
  );

async function play(order: Omit<Extract<Order, { do: 'play' }>, 'do' | 'isStepwise'>) {
  await player.order({ do: 'play', isStepwise: false, ...order });
  await player.ended();
}

/** The processes that this one has started, by their ids, in the order of their ids. Only Linux tells. */
function children(program?: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids
    .sort((a, b) => a - b)
    .filter((pid) => {
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(statOf(pid)) ?? [];
      return Number(parent) === process.pid && (program === undefined || program === name);
    });
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

let before: number[] = [];
beforeAll(async () => {
  before = children();
  await player.open();
});
afterAll(async () => {
  await player.close();
  const { play, controls, views } = player.read();
  expect({ play, controls, seen: views.length }).toEqual({
    play: { is: 'over', trouble: null },
    controls: null,
    seen: 1,
  });
  // The reaper is that of this process, and stays.
  expect(children().filter((pid) => !before.includes(pid)).length).toBeLessThanOrEqual(1);
});

describe('before anything is played', () => {
  test('a stack is there to be seen, and nothing can be gone on with', async () => {
    expect(player.read().play).toEqual({ is: 'ready', trouble: null });
    expect(first()).toMatchObject({ stage: '1-in-process', drill: null, story: [], verdict: null });
    expect(first()?.parts.map(({ name, is }) => [name, is])).toEqual(
      expect.arrayContaining([
        ['node-1', 'up'],
        ['node-2', 'up'],
      ]),
    );
    expect(await refused({ do: 'next' })).toEqual(['NOTHING_PLAYED', 'No drill is being played.']);
    expect(await refused({ do: 'act', act: 'kill', at: 'node-1' })).toEqual(['NOT_FREE', 'Begin free play first.']);
  });

  test.each<[string, Extract<Order, { do: 'play' }>, RegExp]>([
    [
      'a stage that there is not',
      { do: 'play', stage: '9-magic', drill: 'rush', isStepwise: false },
      /no stage 9-magic/,
    ],
    ['a drill that there is not', { do: 'play', stage: '4-ttl', drill: 'hope', isStepwise: false }, /no drill hope/],
    [
      'a drill that can break nothing',
      { do: 'play', stage: '4-ttl', drill: 'amnesia', isStepwise: false },
      /no drill amnesia/,
    ],
  ])('%s is refused', async (_which, order, says) => {
    expect(await refused(order)).toEqual(['BAD_REQUEST', expect.stringMatching(says)]);
    expect(player.read().play.is).toBe('ready');
  });
});

describe('a drill', () => {
  test('as it happens: its story, its parts as they are broken, and the verdict of npm run drill', async () => {
    const seen = new Set<string>();
    await player.order({ do: 'play', stage: '3-spin', drill: 'crashed-holder', isStepwise: false });
    expect(await refused({ do: 'play', stage: '4-ttl', drill: 'rush', isStepwise: false })).toEqual([
      'BUSY',
      'Something else is under way: stop it first.',
    ]);
    const watching = setInterval(() => {
      for (const { name, is } of first()?.parts ?? []) seen.add(`${name} ${is}`);
    }, 10);
    await player.ended();
    clearInterval(watching);

    const view = first();
    expect(view).toMatchObject({ stage: '3-spin', title: 'Stage 3 · spin', drill: 'crashed-holder' });
    expect(view?.verdict).toMatchObject({ verdict: 'fail', taught: 'fail' });
    expect(view?.story.map(({ text }) => text).join('\n')).toMatch(/SIGKILL/);
    expect(view?.timeline?.faults.map(({ label }) => label)).toContain('SIGKILL');
    expect([...seen]).toContain('node-1 dead');
    // The stack is mended, and its end stays to be seen: the dead holder, and the lock that it has left.
    expect(view?.parts.filter(({ is }) => is !== 'up').map(({ name, is }) => [name, is])).toEqual([['node-1', 'dead']]);
    expect(view?.lock).not.toBeNull();
    expect(player.read().play).toEqual({ is: 'ready', trouble: null });
    expect(changes).toBeGreaterThan(5);
  });

  test('step by step: it waits at each step for the presenter, and goes on', async () => {
    await player.order({ do: 'play', stage: '8-auto-renew', drill: 'paused-process', isStepwise: true });
    await stateIs('waiting');
    expect(first()?.parts).toContainEqual(expect.objectContaining({ name: 'node-1', is: 'stopped' }));
    const before = first()?.story.length ?? 0;
    const [waiting] = first()?.story.slice(-1) ?? [];
    expect(waiting).toMatchObject({ isStep: true, waitedUntilMs: null });
    await sleep(300);
    await player.order({ do: 'next' });
    await until('the next step has come', async () => (first()?.story.length ?? 0) > before);
    await stateIs('waiting');
    await player.order({ do: 'run-on' });
    await player.ended();

    const waits = first()?.story.flatMap(({ atMs, waitedUntilMs }) =>
      waitedUntilMs === undefined ? [] : [(waitedUntilMs ?? Number.NaN) - atMs],
    );
    expect(waits).toHaveLength(2);
    expect(waits?.[0]).toBeGreaterThan(250);
    expect(first()?.verdict).toMatchObject({ verdict: 'fail', taught: 'fail' });
    await until('the lost sale is counted', async () => (first()?.figures?.lost ?? 0) > 0);
  });

  test('under the stage before and under this one, side by side', async () => {
    await play({ stage: '4-ttl', drill: 'crashed-holder', against: '3-spin' });

    expect([first(), second()].map((view) => [view?.stage, view?.verdict?.verdict])).toEqual([
      ['3-spin', 'fail'],
      ['4-ttl', 'pass'],
    ]);
  });

  test('a rush: its figures add up while it runs and at the end', async () => {
    await player.order({ do: 'play', stage: '0-none', drill: 'rush', isStepwise: false });
    const seen: number[] = [];
    const watching = setInterval(() => seen.push(first()?.figures?.sold ?? 0), 20);
    await player.ended();
    clearInterval(watching);

    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen).size).toBeGreaterThan(5);
    expect(second()).toBeUndefined();
    expect(first()?.verdict).toMatchObject({ verdict: 'fail', taught: 'fail' });
    await until('the lost sales are counted', async () => (first()?.figures?.lost ?? 0) > 0);
    const { figures, stock } = first() ?? {};
    expect(figures).toMatchObject({ sold: 2_000, refused: 0, inDoubt: 0 });
    expect(stock).toEqual({ actual: 3_000 + (figures?.lost ?? 0), expected: 3_000 });
  });

  test('stopped at a step: the stack is put back, and the next drill is played', async () => {
    await player.order({ do: 'play', stage: '8-auto-renew', drill: 'paused-process', isStepwise: true });
    await stateIs('waiting');
    await player.order({ do: 'stop' });
    await player.ended();
    expect(player.read().play).toEqual({ is: 'ready', trouble: 'The drill was stopped.' });
    expect(first()?.verdict).toBeNull();
    expect(first()?.parts.every(({ is }) => is === 'up')).toBe(true);

    await play({ stage: '5-owner-check', drill: 'late-release' });

    expect(player.read().play.trouble).toBeNull();
    expect(first()?.verdict).toMatchObject({ verdict: 'fail', taught: 'fail' });
  });

  test.skipIf(process.platform !== 'linux')(
    'a part dies that no drill killed: the page is told, and the next drill gets a new stack',
    async () => {
      await player.order({ do: 'play', stage: '8-auto-renew', drill: 'paused-process', isStepwise: true });
      await stateIs('waiting');
      process.kill(children('redis-server').findLast((pid) => !before.includes(pid)) ?? Number.NaN, 'SIGKILL');
      await player.ended();
      expect(player.read().play).toMatchObject({ is: 'ready', trouble: expect.stringMatching(/Redis|redis/) });

      await play({ stage: '4-ttl', drill: 'crashed-holder' });

      expect(first()?.verdict).toMatchObject({ verdict: 'pass', taught: 'pass' });
    },
  );
});

describe('free play', () => {
  const press = (act: Extract<Order, { do: 'act' }>['act'], at?: string) =>
    player.order({ do: 'act', act, ...(at !== undefined && { at }) });
  const stock = () => first()?.stock?.actual;

  beforeAll(async () => {
    await player.order({ do: 'free', stage: '8-auto-renew' });
    await stateIs('free');
  });
  afterAll(async () => {
    await player.order({ do: 'stop' });
    await player.ended();
  });

  test('a sale that was to be held, and waits: it is held no more once that is undone', async () => {
    await press('hold-sale', 'node-1');
    await until('it is inside', async () => first()?.nodes[0]?.inside.length === 1);
    await press('hold-sale', 'node-2');
    await until('it waits', async () => first()?.nodes[1]?.waiting === 1);
    await press('hold-sale', 'node-2');
    await press('hold-sale', 'node-1');

    await until('both are sold', async () => stock() === 998);
  });

  test('what could not be staged is refused, and stands neither on the timeline nor in the story', async () => {
    expect(await refused({ do: 'act', act: 'fail-over', at: 'redis' })).toEqual([
      'NOT_STAGED',
      expect.stringMatching(/no replica yet/),
    ]);
    await press('kill', 'node-1');
    await press('kill', 'node-1');
    await press('sell', 'node-1');
    await until('it sells again', async () => stock() === 997);
    await until('it is drawn', async () => first()?.timeline?.faults.some(({ label }) => label === 'SIGKILL') === true);

    expect(first()?.timeline?.faults.map(({ label }) => label)).not.toContain('failover');
    expect(
      first()
        ?.story.slice(-3)
        .map(({ text }) => text),
    ).toEqual(['node-1 is killed (SIGKILL).', 'node-1 is started again.', 'A buyer asks node-1 for a unit.']);
  });

  test('what a dead or a stopped node can not do is refused, and says why', async () => {
    const controlOf = (act: string, at: string) =>
      player.read().controls?.find((control) => control.act === act && control.at === at);
    const before = stock();
    await press('hold-sale', 'node-1');
    await until('it is inside', async () => first()?.nodes[0]?.inside.length === 1);
    await press('kill', 'node-1');
    expect(controlOf('hold-sale', 'node-1')).toEqual({
      act: 'hold-sale',
      at: 'node-1',
      isOn: false,
      whyNot: 'node-1 is dead: start it first.',
    });
    for (const act of ['hold-sale', 'sell', 'stop', 'block'] as const) {
      expect(await refused({ do: 'act', act, at: 'node-1' })).toEqual([
        'NOTHING_TO_BREAK',
        'node-1 is dead: start it first.',
      ]);
    }
    await press('kill', 'node-1');
    expect(controlOf('hold-sale', 'node-1')).toEqual({ act: 'hold-sale', at: 'node-1', isOn: false });
    await press('hold-sale', 'node-2');
    await press('stop', 'node-2');
    for (const act of ['hold-sale', 'kill', 'block'] as const) {
      expect(await refused({ do: 'act', act, at: 'node-2' })).toEqual([
        'NOTHING_TO_BREAK',
        'node-2 stands still: let it go on first.',
      ]);
    }
    await press('stop', 'node-2');
    await press('hold-sale', 'node-2');

    await until('the sale that was held is sold', async () => stock() === (before ?? 0) - 1);
    expect(player.read().controls?.filter(({ isOn }) => isOn)).toEqual([]);
  });

  test('after a failover the first Redis has nothing to break, until all is undone', async ({ skip }) => {
    const whyNot = 'The nodes use the replica since the failover: undo all leads them back.';
    const lacking = player.read().controls?.find(({ act }) => act === 'fail-over')?.whyNot;
    skip(lacking !== undefined, lacking);
    await press('cut-replica', 'redis');
    await press('fail-over', 'redis');
    for (const act of ['kill', 'stop', 'cut-replica', 'fail-over'] as const) {
      expect(await refused({ do: 'act', act, at: 'redis' })).toEqual(['NOTHING_TO_BREAK', whyNot]);
    }
    await player.order({ do: 'undo' });
    await press('stop', 'redis');
    await press('stop', 'redis');
  });
});
