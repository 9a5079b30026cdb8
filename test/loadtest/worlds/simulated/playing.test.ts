import { expect, test } from 'vitest';
import { type PlayEvent, withLetters } from '../../../../loadtest/evidence/playing.ts';
import { labelOf } from '../../../../loadtest/narration/faults.ts';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { playDrill } from '../../../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../../../loadtest/worlds/simulated/playing.ts';
import { locks } from '../../../../locks/index.ts';
import { lockKey } from '../../../../services/inventory/servers/store.ts';
import type { Lab } from '../../../../simulation/lab.ts';
import { beatsOf } from '../../../../workshop/picture/beats.ts';

async function playingOf(name: string, stage: string): Promise<PlayEvent[]> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    opened.watchRedis(lockKey('001', stage));
    lab = opened;
  };
  await playDrill(drills.find((drill) => drill.name === name) as (typeof drills)[number], stage, { disturb });
  return lab ? playingIn(lab) : [];
}

const of = <Kind extends PlayEvent['kind']>(events: PlayEvent[], kind: Kind) =>
  events.filter((event): event is PlayEvent & { kind: Kind } => event.kind === kind);

test('late-release, stage 5: whose lease began and ended, whose command freed it, and what the drill did', async () => {
  const events = await playingOf('late-release', '5-owner-check');

  expect(of(events, 'lease').map(({ owner, is }) => `${owner} ${is}`)).toEqual([
    ...['A begun', 'A ended', 'B begun', 'B freed', 'C begun', 'C freed', 'D begun', 'D freed'],
  ]);
  const freed = events.findIndex((event) => event.kind === 'lease' && event.owner === 'B' && event.is === 'freed');
  expect(events[freed + 1]).toMatchObject({ kind: 'done', sale: 'A', verb: 'DEL lock', about: 'lock', returned: 1 });
  expect(of(events, 'fault').map(({ what, sale, is }) => `${labelOf(what)} ${sale} ${is}`)).toEqual([
    ...['release held A begun', 'lease ends A begun', 'release held A over'],
  ]);
  const held = of(events, 'held')[0];
  expect(of(events, 'let go')).toMatchObject([{ id: held?.id, sale: 'A', verb: 'DEL lock' }]);
});

test('long-sale, stage 8: each lease is renewed until its sale has left', async () => {
  const leases = of(await playingOf('long-sale', '8-auto-renew'), 'lease').map(({ owner, is }) => `${owner} ${is}`);

  expect([...new Set(leases)]).toEqual(['A begun', 'A renewed', 'A freed', 'B begun', 'B renewed', 'B freed']);
});

test.each(Object.keys(locks))(
  '%s: each command of the stock or the lock belongs to a sale of the page',
  async (stage) => {
    for (const name of ['slow-holder', 'late-write', 'nested-call']) {
      const done = of(await playingOf(name, stage), 'done').filter(
        ({ about, name }) => about !== 'other' && name !== 'MGET',
      );
      // What is released once more after an outage belongs to nobody who waits for an answer.
      const letters = done.filter(({ at }) => at < 300).map(({ sale }) => sale);
      expect(
        letters.filter((sale) => sale === undefined),
        name,
      ).toEqual([]);
    }
  },
);

test('a lock that a dead process holds stays that of its sale, whatever sale has its number in the next process', () => {
  const waits = (at: number, letter: string): PlayEvent => {
    return { kind: 'sale', at, node: 'node-1', sale: '0001', step: 'waiting', requestId: letter };
  };
  const held = (at: number): PlayEvent => ({ kind: 'redis', at, stock: 100, lock: { value: 'first:0001' } });
  const again: PlayEvent = { kind: 'node', at: 3, node: 'node-1', is: 'started again' };
  const instances = new Map(['first', 'second'].map((instance) => [instance, 'node-1']));

  const named = withLetters([waits(1, 'A'), held(2), again, waits(4, 'C'), held(5)], instances);

  expect(of(named, 'redis').map(({ lock }) => lock?.owner)).toEqual(['A', 'A']);
  expect(of(named, 'sale').map(({ sale }) => sale)).toEqual(['A', 'C']);
});

test('a node that blocks is blocked until it is said to have resumed, also when its events have travelled', () => {
  const blocked: PlayEvent = { kind: 'node', at: 10, node: 'node-1', is: 'blocked' };
  const resumed: PlayEvent = { kind: 'node', at: 90, node: 'node-1', is: 'resumed' };
  const events = JSON.parse(JSON.stringify([blocked, resumed])) as PlayEvent[];

  expect(beatsOf(events, 'none').beats.map(({ is }) => is)).toEqual(['blocked', 'running', undefined]);
});
