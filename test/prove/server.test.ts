import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Executed, openServer, type Server, type ServerState } from '../../prove/server.ts';
import { openValkey, ReplyError } from '../../virtual/valkey.ts';
import type { Command } from '../../virtual/world.ts';
import { type Draw, drawing } from './drawn.ts';

const LEASE_MS = 900;

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
    expect(server.whatIsLeft(both)).toEqual(['a subscription to news', 'a subscription to news']);
  });
});

const lua = new URL('../../lua/', import.meta.url);
const scripts = readdirSync(lua).map((file) => {
  const text = readFileSync(new URL(file, lua), 'utf8');
  return { name: file.replace('.lua', ''), sha1: createHash('sha1').update(text).digest('hex') };
});

/** The keys and arguments of each script, such as a lock would send. */
const callsOf: Record<string, (draw: Draw) => { keys: string[]; args: (string | number)[] }> = {
  'acquire-fenced': (draw) => ({ keys: ['hash', 'tokens'], args: [owner(draw), LEASE_MS] }),
  'acquire-in-turn': (draw) => ({
    keys: ['turn', 'names', 'suspect'],
    args: [nameOf(draw), LEASE_MS, draw.oneOf(['join', 'stay', 'try'])],
  }),
  'acquire-or-queue': (draw) => ({
    keys: ['hash', 'nodes'],
    args: [owner(draw), LEASE_MS, draw.oneOf(['', 'news', 'weather'])],
  }),
  'acquire-or-return-lease': (draw) => ({ keys: ['hash'], args: [owner(draw), LEASE_MS] }),
  'acquire-reentrant': (draw) => ({ keys: ['hash'], args: [owner(draw), LEASE_MS] }),
  'add-if-there': () => ({ keys: ['stock'], args: [1] }),
  'read-if-newest': (draw) => ({ keys: ['stock', 'fence'], args: ['lock', draw.below(4)] }),
  'release-and-publish': (draw) => ({ keys: ['hash'], args: [owner(draw), LEASE_MS, 'news'] }),
  'release-if-owner': (draw) => ({ keys: ['text'], args: [owner(draw)] }),
  'release-reentrant': (draw) => ({ keys: ['hash'], args: [owner(draw), LEASE_MS] }),
  'release-to-first': (draw) => ({ keys: ['turn', 'names'], args: [nameOf(draw)] }),
  'release-to-next-node': (draw) => ({
    keys: ['hash', 'nodes'],
    args: [owner(draw), LEASE_MS, draw.oneOf(['keep', 'free'])],
  }),
  'renew-if-equal': (draw) => ({ keys: ['turn'], args: [nameOf(draw), LEASE_MS] }),
  'renew-if-owner': (draw) => ({ keys: ['hash'], args: [owner(draw), LEASE_MS] }),
  'restore-once': (draw) => ({ keys: ['stock', 'fence', 'mark'], args: [1, LEASE_MS, 'lock', draw.below(4)] }),
  'take-one': () => ({ keys: ['stock'], args: [] }),
  'write-if-newest': (draw) => ({ keys: ['stock', 'fence'], args: [draw.below(10), 'lock', draw.below(4)] }),
};

const owner = (draw: Draw) => draw.oneOf(['A:1', 'B:1']);
/** Of two waiters of a process that listens to `turn:A`, and of one that nobody hears. */
const nameOf = (draw: Draw) => draw.oneOf([`A:${LEASE_MS}:hears:1`, `A:${LEASE_MS}:new:2`, `B:${LEASE_MS}:hears:1`]);
const key = (draw: Draw) => draw.oneOf(['text', 'stock']);

/** Scripts of which each finds what another has written. */
const families = [
  ['acquire-in-turn', 'release-to-first', 'renew-if-equal'],
  ['acquire-or-queue', 'release-to-next-node'],
  ['acquire-or-return-lease', 'release-and-publish', 'renew-if-owner'],
  ['acquire-reentrant', 'release-reentrant', 'renew-if-owner'],
  ['acquire-fenced', 'read-if-newest', 'write-if-newest', 'restore-once'],
  ['release-if-owner', 'add-if-there', 'take-one'],
];

const others: ((draw: Draw) => Command)[] = [
  (draw) => ['SET', 'text', owner(draw), 'PX', draw.oneOf([1, LEASE_MS]), 'NX'],
  (draw) => ['SET', 'stock', draw.below(10)],
  (draw) => ['GET', key(draw)],
  (draw) => ['DEL', draw.oneOf(['text', 'stock', 'hash', 'turn'])],
  (draw) => ['PEXPIRE', draw.oneOf(['text', 'stock', 'hash', 'turn']), draw.oneOf([1, 300, LEASE_MS])],
  (draw) => ['PTTL', draw.oneOf(['text', 'stock', 'hash', 'turn'])],
  () => ['PUBLISH', 'news', 'by hand'],
  () => ['TIME'],
];

interface Event {
  at: number;
  process: number;
  command: Command;
}

function drawEvent(draw: Draw, after: number, some: string[]): Event {
  const at = after + draw.oneOf([0, 0, 0, 1, 299, 300, LEASE_MS, LEASE_MS + 1]);
  const process = draw.below(2);
  const kind = draw.below(10);
  if (kind === 0) {
    const verb = draw.oneOf(['SUBSCRIBE', 'SUBSCRIBE', 'UNSUBSCRIBE']);
    return { at, process, command: [verb, draw.oneOf(['news', 'weather', 'turn:A'])] };
  }
  if (kind < 4) return { at, process, command: draw.oneOf(others)(draw) };
  const name = draw.oneOf(some);
  const sha1 = scripts.find((script) => script.name === name)?.sha1 ?? '';
  const { keys, args } = callsOf[name]?.(draw) ?? { keys: [], args: [] };
  return { at, process, command: ['EVALSHA', sha1, keys.length, ...keys, ...args] };
}

const said = ({ reply, messages }: Pick<Executed, 'reply' | 'messages'>) => ({
  reply: reply instanceof Error ? reply.message : reply,
  messages: messages.toSorted((one, other) => one.to - other.to),
});

/** What a Valkey answers whose state is never put back. */
async function onOneValkey(events: Event[]) {
  const valkey = await openValkey();
  valkey.pipeline(0, [...scripts.map(({ name }) => ['SCRIPT', 'LOAD', textOf(name)])]);
  return events.map(({ at, process, command }) => {
    valkey.setTime(at);
    const isListening = /SUBSCRIBE$/.test(String(command[0]));
    const { reply, messages } = valkey.run(isListening ? process + 1 : 0, command);
    const heard = messages.map(({ to, message }) => {
      const [, channel, text] = message as string[];
      return { to: to - 1, channel: String(channel), message: String(text) };
    });
    return said({ reply, messages: heard });
  });
}

const textOf = (name: string) => readFileSync(new URL(`${name}.lua`, lua), 'utf8');

describe('server: drawn commands, the same seed in every run', () => {
  const WALKS = 60;
  const LENGTH = 14;
  const draw = drawing(20_126);
  const walks = Array.from({ length: WALKS }, () => {
    let at = 0;
    const some = draw.oneOf(families);
    return Array.from({ length: LENGTH }, () => {
      const event = drawEvent(draw, at, some);
      at = event.at;
      return event;
    });
  });

  /** Takes the walks further by one event each, in turns and in an order that is drawn, so that each state is put back again and again. */
  function interleaved(on: Server, seed: number) {
    const draw = drawing(seed);
    const states = walks.map(() => on.empty);
    const answers: ReturnType<typeof said>[][] = walks.map(() => []);
    const open = walks.map((_, walk) => walk);
    while (open.length > 0) {
      const place = draw.below(open.length);
      const walk = open[place] as number;
      const told = answers[walk] as ReturnType<typeof said>[];
      const { at, process, command } = (walks[walk] as Event[])[told.length] as Event;
      const executed = on.execute(states[walk] as ServerState, at, process, command);
      states[walk] = executed.after;
      told.push(said(executed));
      if (told.length === LENGTH) open.splice(place, 1);
    }
    return answers;
  }

  test('the same as on a Valkey whose state is never put back', async () => {
    const answers = interleaved(await openServer(), 3);

    // Each has a Valkey of its own, which takes long to open.
    for (const [walk, events] of walks.slice(0, 20).entries()) {
      expect({ walk, answers: answers[walk] }).toEqual({ walk, answers: await onOneValkey(events) });
    }
  });
});
