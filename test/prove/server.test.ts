import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Executed, openServer, type Server, type ServerState } from '../../prove/server.ts';
import { ReplyError } from '../../simulation/valkey.ts';
import type { Command } from '../../simulation/world/commands.ts';

const LEASE_MS = 900;

// That it answers as one whose state is never put back does: every counterexample is replayed on such a one, in matrix.test.ts.

let server: Server;
beforeAll(async () => {
  server = await openServer();
});

/** Carries out commands one after the other, each at its time. Returns what the last one came to. */
function walk(on: Server, from: ServerState, ...commands: [at: number, ...command: Command][]): Executed {
  let executed: Executed = { id: -1, reply: null, after: from, messages: [] };
  for (const [at, ...command] of commands) executed = on.execute(executed.after, at, 0, command);
  return executed;
}

describe('server: a function of state, time and command', () => {
  test('the same contents are the same state, whatever led to them', () => {
    const { after: one } = walk(server, server.empty, [0, 'SET', 'a', 1], [0, 'SET', 'b', 2]);
    const { after: other } = walk(
      server,
      server.empty,
      [0, 'SET', 'b', 2],
      [5, 'SET', 'c', 3],
      [9, 'DEL', 'c'],
      [9, 'SET', 'a', 1],
    );

    expect(other).toBe(one);
    expect(walk(server, server.empty, [0, 'SET', 'a', 1], [0, 'SET', 'b', 3]).after).not.toBe(one);
  });
});

describe('server: the end of a lease', () => {
  test('a key is there in its last millisecond, and gone one later, also when its state was put back at that time', () => {
    const { after } = walk(server, server.empty, [0, 'SET', 'key', 'x', 'PX', LEASE_MS]);
    const putBack = () => walk(server, server.empty, [0, 'SET', 'other', 1]);

    for (const [at, reply] of [
      [LEASE_MS, 'x'],
      [LEASE_MS + 1, null],
    ] as const) {
      putBack();
      expect(server.execute(after, at, 0, ['GET', 'key']).reply).toBe(reply);
    }
    expect(server.execute(after, LEASE_MS, 0, ['PTTL', 'key']).reply).toBe(0);
    expect(server.execute(after, LEASE_MS + 1, 0, ['SET', 'key', 'y', 'NX']).reply).toBe('OK');
    expect(server.execute(after, LEASE_MS, 0, ['SET', 'key', 'y', 'NX']).reply).toBeNull();
  });

  test('a key that has ended is gone from the state, and does not come back when time does', () => {
    // Arrange: the clock has been far ahead, as it has after another lock was proved.
    server.execute(server.empty, 100_000, 0, ['GET', 'key']);
    const { after: held } = walk(server, server.empty, [0, 'SET', 'key', 'x', 'PX', LEASE_MS]);

    const { after: ended } = server.execute(held, 2 * LEASE_MS, 0, ['GET', 'something else']);

    expect(ended).toBe(server.empty);
    expect(server.execute(ended, 10, 0, ['EXISTS', 'key']).reply).toBe(0);
  });
});

describe('server: what is put back', () => {
  test('scripts: a cold server knows none, and one that it was sent in full from then on', () => {
    const text = "return 'sent in full'";
    const sha1 = createHash('sha1').update(text).digest('hex');

    const before = server.execute(server.cold, 0, 0, ['EVALSHA', sha1, 0]);
    const sent = server.execute(before.after, 0, 0, ['EVAL', text, 0]);
    // Another state in between, which does not know it.
    server.execute(server.cold, 0, 0, ['GET', 'key']);
    const again = server.execute(sent.after, 1, 0, ['EVALSHA', sha1, 0]);

    expect(before.reply).toMatchObject({ message: expect.stringMatching(/^NOSCRIPT/) });
    expect([sent.reply, again.reply]).toEqual(['sent in full', 'sent in full']);
    expect(server.execute(server.cold, 2, 0, ['EVALSHA', sha1, 0]).reply).toBeInstanceOf(ReplyError);
  });

  test('subscriptions: who listens hears what is published, in order, and no longer when it has gone', () => {
    const publish: Command = ['EVAL', "for i = 1, 3 do redis.call('PUBLISH', 'news', i) end", 0];
    const heard = (state: ServerState) => server.execute(state, 1, 0, publish).messages;
    const { after: one } = server.execute(server.empty, 0, 1, ['SUBSCRIBE', 'news']);
    const { after: both } = server.execute(one, 0, 2, ['SUBSCRIBE', 'news']);
    const { after: left } = server.execute(both, 0, 1, ['UNSUBSCRIBE', 'news']);

    const news = (to: number) => ['1', '2', '3'].map((message) => ({ to, channel: 'news', message }));
    expect(heard(both).filter(({ to }) => to === 1)).toEqual(news(1));
    expect(heard(both).filter(({ to }) => to === 2)).toEqual(news(2));
    expect([heard(server.empty), heard(left), heard(one)]).toEqual([[], news(2), news(1)]);
    expect(heard(server.without(both, 2))).toEqual(news(1));
    expect(server.channels(both)).toEqual(['news', 'news']);
  });
});
