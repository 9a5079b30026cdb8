import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emptyView } from '../../../live/client/state.ts';
import type { LiveState, Message, StackView } from '../../../live/contract.ts';
import { createStream, type StreamOptions } from '../../../live/server/stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const view = (change: Partial<StackView> = {}): StackView => ({
  ...emptyView,
  stage: '4-ttl',
  title: 'Stage 4 · ttl',
  ...change,
});

/** A stream of a state that the test sets, and the answers that it is written to. Its clock is moved by the test. */
function serve(options: Partial<StreamOptions> = {}) {
  const state: LiveState = { play: { is: 'ready', trouble: null }, controls: null, views: [view()] };
  const stream = createStream({ choices: [], read: () => state, ...options });

  /** Somebody follows. */
  function follow({ gzip = false } = {}) {
    const pieces: Buffer[] = [];
    const response = Object.assign(new EventEmitter(), {
      req: { headers: gzip ? { 'accept-encoding': 'gzip, deflate' } : {} },
      isReading: true,
      isDestroyed: false,
      headers: {} as Record<string, string>,
      cork() {},
      uncork() {},
      writeHead: (_status: number, headers: Record<string, string>) => Object.assign(response.headers, headers),
      write(piece: Buffer | string) {
        pieces.push(Buffer.from(piece));
        return response.isReading;
      },
      destroy() {
        response.isDestroyed = true;
        response.emit('close');
      },
      /** What it was sent so far. */
      messages: (): Message[] =>
        text()
          .split('\n\n')
          .filter((event) => event.startsWith('data: '))
          .map((event) => JSON.parse(event.slice(6))),
    });
    // A stream of gzip that is never complete has no end.
    const text = () => {
      const sent = Buffer.concat(pieces);
      return gzip ? gunzipSync(sent, { finishFlush: constants.Z_SYNC_FLUSH }).toString() : sent.toString();
    };
    const isTaken = stream.follow(response as unknown as ServerResponse);
    return { response, isTaken, messages: response.messages };
  }

  return { state, stream, follow };
}

/** Longer than two messages are apart. */
const passes = () => vi.advanceTimersByTime(100);

test('a follower is sent everything, then the members that have changed, each whole', () => {
  const { state, stream, follow } = serve();
  const { messages } = follow();

  state.views = [view({ nodes: [{ name: 'node-1', waiting: 3, inside: ['1001'] }] })];
  stream.changed();
  passes();
  state.play = { is: 'playing', trouble: null };
  stream.changed();
  passes();

  expect(messages()).toEqual([
    { type: 'all', choices: [], state: { play: { is: 'ready', trouble: null }, controls: null, views: [view()] } },
    { type: 'changed', views: [{ nodes: [{ name: 'node-1', waiting: 3, inside: ['1001'] }] }] },
    { type: 'changed', play: { is: 'playing', trouble: null }, views: [{}] },
  ]);
});

test('a view that comes is sent whole, and one that goes is null', () => {
  const { state, stream, follow } = serve();
  const { messages } = follow();

  state.views = [view(), view({ stage: '5-owner-check' })];
  stream.changed();
  passes();
  state.views = [view({ drill: 'rush' })];
  stream.changed();
  passes();

  expect(messages().slice(1)).toEqual([
    { type: 'changed', views: [{}, view({ stage: '5-owner-check' })] },
    { type: 'changed', views: [{ drill: 'rush' }, null] },
  ]);
});

test('a thousand changes in a second are ten messages, and the last one comes', () => {
  const { state, stream, follow } = serve();
  const { messages } = follow();

  for (let sold = 1; sold <= 1_000; sold += 1) {
    state.play = { is: 'playing', trouble: `${sold}` };
    stream.changed();
    vi.advanceTimersByTime(1);
  }
  passes();

  expect(messages()).toHaveLength(1 + 1 + 10);
  expect(messages().at(-1)).toEqual({ type: 'changed', play: { is: 'playing', trouble: '1000' }, views: [{}] });
});

test('nothing is sent when nothing has changed, but a beat every ten seconds', () => {
  const { stream, follow } = serve();
  const { response, messages } = follow();
  const write = vi.spyOn(response, 'write');

  stream.changed();
  vi.advanceTimersByTime(9_999);
  expect(write).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);

  expect(write.mock.calls.map(([piece]) => `${piece}`)).toEqual([':\n\n']);
  expect(messages()).toHaveLength(1);
});

test('one that does not read: nothing is kept for it; it is sent what has changed when it reads again', () => {
  const { state, stream, follow } = serve();
  const { response, messages } = follow();
  const other = follow();
  response.isReading = false;
  for (const title of ['one', 'two', 'three']) {
    state.views = [view({ title })];
    stream.changed();
    passes();
  }
  const last = { type: 'changed', views: [{ title: 'three' }] };

  expect(messages()).toHaveLength(2);
  expect(other.messages()).toHaveLength(4);
  response.isReading = true;
  response.emit('drain');
  expect(messages().slice(2)).toEqual([last]);
  expect(other.messages().at(-1)).toEqual(last);
});

test('one that does not read for 20 s is hung up on, and forgotten; the others stay', () => {
  const { state, stream, follow } = serve();
  const { response } = follow();
  const other = follow();
  response.isReading = false;
  state.views = [view({ title: 'more' })];
  stream.changed();
  vi.advanceTimersByTime(20_000);
  expect(response.isDestroyed).toBe(false);
  vi.advanceTimersByTime(10_000);

  expect([response.isDestroyed, other.response.isDestroyed]).toEqual([true, false]);
  expect(stream.count()).toBe(1);
});

test('who hangs up is forgotten; of too many the last one is refused', () => {
  const { stream, follow } = serve({ mostFollowers: 3 });
  const room = [follow(), follow(), follow()];

  expect(stream.isFull()).toBe(true);
  expect(follow().isTaken).toBe(false);
  room[0]?.response.destroy();
  expect(stream.isFull()).toBe(false);
  expect(follow().isTaken).toBe(true);
});

test('a browser that reads gzip is sent the same, compressed, from the first message to the last', () => {
  const { state, stream, follow } = serve({ packs: true });
  const [plain, packed] = [follow(), follow({ gzip: true })];
  for (const stage of ['5-owner-check', '6-lua-release', '7-reentrant']) {
    state.views = [view({ stage, title: `with äöü and ${'the same again and again, '.repeat(1_000)}` })];
    stream.changed();
    passes();
  }

  expect([plain, packed].map(({ response }) => response.headers['Content-Encoding'])).toEqual([undefined, 'gzip']);
  expect(packed.messages()).toHaveLength(4);
  expect(packed.messages()).toEqual(plain.messages());
});
