import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emptyView } from '../../../live/client/state.ts';
import type { LiveState, Message, StackView } from '../../../live/contract.ts';
import { createStream, type StreamOptions } from '../../../live/server/stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const view = (change: Partial<StackView> = {}): StackView => ({ ...emptyView, stage: '4-ttl', ...change });

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
    });
    const isTaken = stream.follow(response as unknown as ServerResponse);
    /** All that it was sent so far. A stream of gzip that is never complete has no end. */
    const text = () => {
      const sent = Buffer.concat(pieces);
      return gzip ? gunzipSync(sent, { finishFlush: constants.Z_SYNC_FLUSH }).toString() : sent.toString();
    };
    const messages = (): Message[] =>
      text()
        .split('\n\n')
        .filter((event) => event.startsWith('data: '))
        .map((event) => JSON.parse(event.slice(6)));
    return { response, isTaken, text, messages };
  }

  /** The state changes, and the time passes in which two messages may follow each other. */
  function change(changed: Partial<LiveState>) {
    Object.assign(state, changed);
    stream.changed();
    vi.advanceTimersByTime(100);
  }
  return { stream, follow, change };
}

test('a follower is sent everything, then the members that have changed, each whole; a view that goes is null', () => {
  const { follow, change } = serve();
  const { messages } = follow();
  const nodes = [{ name: 'node-1', waiting: 3, inside: ['1001'] }];

  change({ views: [view({ nodes })] });
  change({ play: { is: 'playing', trouble: null } });
  change({ views: [view({ nodes }), view({ stage: '5-owner-check' })] });
  change({ views: [view({ nodes })] });

  const state = { play: { is: 'ready', trouble: null }, controls: null, views: [view()] };
  expect(messages()).toEqual([
    { type: 'all', choices: [], state },
    { type: 'changed', views: [{ nodes }] },
    { type: 'changed', play: { is: 'playing', trouble: null }, views: [{}] },
    { type: 'changed', views: [{}, view({ stage: '5-owner-check' })] },
    { type: 'changed', views: [{}, null] },
  ]);
});

test('a thousand changes in a second are ten messages, and the last one comes', () => {
  const { stream, follow, change } = serve();
  const { messages } = follow();
  const play = { is: 'playing' as const, trouble: '' };
  change({ play });

  for (let sold = 1; sold <= 1_000; sold += 1) {
    play.trouble = `${sold}`;
    stream.changed();
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(100);

  expect(messages().length).toBeLessThanOrEqual(2 + 11);
  expect(messages().at(-1)).toEqual({ type: 'changed', play: { is: 'playing', trouble: '1000' }, views: [{}] });
});

test('nothing is sent when nothing has changed, but a beat every ten seconds', () => {
  const { follow, change } = serve();
  const { text } = follow();
  const before = text();

  change({});
  vi.advanceTimersByTime(9_899);
  expect(text()).toBe(before);
  vi.advanceTimersByTime(1);
  expect(text()).toBe(`${before}:\n\n`);
});

test('one that does not read for 20 s is hung up on, and forgotten; the others stay', () => {
  const { stream, follow, change } = serve();
  const [stuck, other] = [follow(), follow()];
  stuck.response.isReading = false;
  change({ views: [view({ title: 'more' })] });
  vi.advanceTimersByTime(19_900);
  expect(stuck.response.isDestroyed).toBe(false);
  vi.advanceTimersByTime(10_100);

  expect([stuck.response.isDestroyed, other.response.isDestroyed, stream.count()]).toEqual([true, false, 1]);
});

test('a browser that reads gzip is sent the same, compressed, from the first message to the last', () => {
  const { follow, change } = serve({ packs: true });
  const [plain, packed] = [follow(), follow({ gzip: true })];
  const title = `with äöü and ${'the same again and again, '.repeat(1_000)}`;
  for (const stage of ['5-owner-check', '6-lua-release']) change({ views: [view({ stage, title })] });

  expect([plain, packed].map(({ response }) => response.headers['Content-Encoding'])).toEqual([undefined, 'gzip']);
  expect(packed.messages()).toHaveLength(3);
  expect(packed.messages()).toEqual(plain.messages());
});
