import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStream } from '../../../workshop/server/stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A stream of parts that the test sets, and the answers that it is written to. Its clock is moved by the test. */
function serve() {
  const parts: Record<string, unknown> = { play: 'ready', run: null };
  const stream = createStream({ read: () => parts, everyMs: 100, mostFollowers: 2 });
  function follow() {
    let text = '';
    const response = Object.assign(new EventEmitter(), {
      isReading: true,
      isDestroyed: false,
      writeHead() {},
      write(piece: string) {
        text += piece;
        return response.isReading;
      },
      destroy() {
        response.isDestroyed = true;
        response.emit('close');
      },
    });
    stream.follow(response as unknown as ServerResponse, { follower: 'ada' });
    const messages = () => text.match(/(?<=^data: ).*$/gm)?.map((json) => JSON.parse(json));
    return { response, text: () => text, messages };
  }
  function change(changed: object) {
    Object.assign(parts, changed);
    stream.changed();
    vi.advanceTimersByTime(100);
  }
  return { stream, follow, change };
}

test('a follower is sent everything, then the parts that have changed, each whole; many changes are one message', () => {
  const { stream, follow, change } = serve();
  const { messages } = follow();
  for (let times = 0; times < 50; times += 1) stream.changed();
  change({ run: { events: [1] } });
  change({});
  change({ play: 'playing' });

  expect(messages()).toEqual([
    { follower: 'ada', play: 'ready', run: null },
    { run: { events: [1] } },
    { play: 'playing' },
  ]);
});

test('what all are sent is written as JSON once, however many follow', () => {
  const { follow, change } = serve();
  const toJSON = vi.fn(() => 'a run');
  change({ run: { toJSON } });
  const phones = [follow(), follow()];

  expect(phones.map(({ messages }) => messages()?.at(0).run)).toEqual(['a run', 'a run']);
  expect(toJSON).toHaveBeenCalledTimes(1);
});

test('one that does not read is sent what is new when it reads again; after 20 s it is hung up on, and the others stay', () => {
  const { stream, follow, change } = serve();
  const [slow, other] = [follow(), follow()];
  expect(stream.isFull()).toBe(true);
  slow.response.isReading = false;
  change({ run: 1 });
  change({ run: 2 });
  change({ run: 3 });
  expect(slow.messages()?.at(-1)).toEqual({ run: 1 });
  slow.response.emit('drain');
  expect(slow.messages()?.at(-1)).toEqual({ run: 3 });
  vi.advanceTimersByTime(30_000);

  expect([slow.response.isDestroyed, other.response.isDestroyed, stream.isFull()]).toEqual([true, false, false]);
  expect(other.text()).toMatch(/\n\n(:\n\n)+$/);
});
