// What the buttons of free play do: seen in the servers themselves. Sales and rushes: test/workshop/live.test.ts.

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { stockKey } from '../../../services/inventory/servers/store.ts';
import type { Act } from '../../../workshop/page/protocol.ts';
import { beatsOf, type Scene } from '../../../workshop/picture/beats.ts';
import { type FreePlay, openFreePlay } from '../../../workshop/server/free-play.ts';
import { startRecording } from '../../../workshop/server/recording.ts';
import { ownTargets } from '../../loadtest/drills/own-targets.ts';
import { createNews } from './news.ts';

/** Longer than anything that is held here. */
const LEASE_MS = 30_000;

const { target } = ownTargets([], { readsReplies: true });
/** Redis itself, past the links of the nodes. */
let redis: Redis;
beforeAll(() => {
  redis = new Redis(target().stack?.redis.url ?? '');
});
afterAll(() => redis?.disconnect());

interface Playing {
  press: (act: Act, at?: string) => Promise<void>;
  /** What is seen by now. */
  seen: () => Scene;
  free: FreePlay;
  /** Resolves when the page shows it. */
  until: (isSo: () => boolean) => Promise<void>;
}

/** Free play under a stage. Afterwards everything is undone. */
async function playing(stage: string, act: (playing: Playing) => Promise<void>) {
  const news = createNews();
  const { audience, events, close } = startRecording({ stage, onChange: news.tell });
  const free = await openFreePlay({
    target: audience.watch(target()),
    ...{ stage, observe: audience.observe, leaseMs: LEASE_MS, narrate: audience.narrate, onChange: news.tell },
  });
  try {
    const press: Playing['press'] = (act, at) => free.act({ act, at });
    const seen = () => beatsOf(events(), 'redis').scenes.at(-1) as Scene;
    await act({ press, seen, free, until: news.until });
  } finally {
    await free.undo();
    await free.close();
    await close();
  }
}

const stock = async () => Number(await redis.get(stockKey('001')));
const isLocked = async () => (await redis.keys('*:lock:*')).length === 1;
const nodeAt = (at: 0 | 1) => target().nodes[at] as TargetNode;
const sale = (at: 0 | 1) => fetch(`${nodeAt(at).publicUrl}/inventory/sale`, { method: 'POST' });

describe('free play, under 8-auto-renew', () => {
  const stage = '8-auto-renew';

  test('a write that is held: it has the lock, and the stock is as before', () =>
    playing(stage, async ({ press, seen, until }) => {
      await press('hold-write', 'node-1');
      await press('sell', 'node-1');
      await until(() => seen().onWire?.command.about === 'stock');
      expect([await isLocked(), await stock(), (await nodeAt(0).state()).inFlight]).toEqual([true, 1_000, 1]);

      await press('hold-write', 'node-1');
      await until(() => seen().till.length === 1);
      // It is sold when it is written; the release comes behind.
      await expect.poll(async () => [await isLocked(), await stock()]).toEqual([false, 999]);
    }));

  test('a node that is stopped answers when it goes on; one that is killed is another process; one that is cut off can’t sell', () =>
    playing(stage, async ({ press, seen }) => {
      const isShown = () => seen().nodes['node-1'];
      await press('stop', 'node-1');
      expect(isShown()).toBe('stopped');
      const ended: number[] = [];
      const stopped = sale(0).then(({ status }) => ended.push(status));
      expect((await sale(1)).status).toBe(200);
      expect(ended).toEqual([]);
      await press('stop', 'node-1');
      await stopped;
      expect(ended).toEqual([200]);

      const { pid } = await nodeAt(0).state();
      await press('kill', 'node-1');
      expect(isShown()).toBe('killed');
      expect(() => process.kill(pid, 0)).toThrow();
      await expect(sale(0)).rejects.toThrow();
      await press('kill', 'node-1');
      expect((await nodeAt(0).state()).pid).not.toBe(pid);
      await press('cut', 'node-1');
      expect([(await sale(0)).status, (await sale(1)).status]).toEqual([503, 200]);
    }));

  test('what can’t be done now is refused, and says why', () =>
    playing(stage, async ({ press, free }) => {
      const refusal = (act: Act, at: string) => press(act, at).then(String, ({ code, message }) => [code, message]);
      const isOn = () => free.controls().filter((control) => control.isOn);
      const whyNot = (act: Act, at: string) => free.controls().find((one) => one.act === act && one.at === at)?.whyNot;
      expect(await refusal('fail-over', 'redis')).toEqual([
        'NOT_STAGED',
        expect.stringMatching(/No replica has been cut off yet/),
      ]);

      await press('kill', 'node-1');
      expect(whyNot('sell', 'node-1')).toBe('node-1 has crashed: start it first.');
      for (const act of ['hold-sale', 'sell', 'stop', 'block'] as const)
        expect(await refusal(act, 'node-1')).toEqual(['NOTHING_TO_BREAK', 'node-1 has crashed: start it first.']);
      await press('kill', 'node-1');
      await press('stop', 'node-2');
      for (const act of ['hold-sale', 'kill', 'block'] as const)
        expect(await refusal(act, 'node-2')).toEqual(['NOTHING_TO_BREAK', 'node-2 is paused: resume it first.']);
      await press('stop', 'node-2');

      expect([isOn(), whyNot('sell', 'node-1'), whyNot('kill', 'node-2')]).toEqual([[], undefined, undefined]);
    }));
});
