import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStream } from '../../../live/client/stream.ts';

/** Streams of a server that answers none of them. */
class ClosedStream {
  static readonly CLOSED = 2;
  static opened: ClosedStream[] = [];
  readonly readyState = ClosedStream.CLOSED;
  onerror: () => unknown = () => {};
  constructor() {
    ClosedStream.opened.push(this);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  ClosedStream.opened = [];
  vi.stubGlobal('EventSource', ClosedStream);
  vi.stubGlobal('localStorage', { getItem: () => null });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** What the page says of its line, and how often it has opened it after two seconds. */
async function afterRefusal(answer: () => Promise<Response>) {
  vi.stubGlobal('fetch', answer);
  const said: string[] = [];
  openStream(
    'token',
    () => {},
    (state) => said.push(state),
  );
  await ClosedStream.opened[0]?.onerror();
  vi.advanceTimersByTime(2_000);
  return { said, opened: ClosedStream.opened.length };
}

test.each([
  ['a page that was started anew says what to do, and is asked no more', 403, 'Open the new one.', 1],
  ['a room that is full says so, and is asked again', 503, 'The room is full.', 2],
])('%s', async (_, status, detail, opened) => {
  const answer = async () => new Response(JSON.stringify({ detail }), { status });

  expect(await afterRefusal(answer)).toEqual({ said: ['broken', detail], opened });
});

test('a server that is gone is asked again', async () => {
  const answer = () => Promise.reject(new Error('gone'));

  expect(await afterRefusal(answer)).toEqual({ said: ['broken'], opened: 2 });
});
