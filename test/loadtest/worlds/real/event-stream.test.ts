import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type FollowOptions, followNode } from '../../../../loadtest/worlds/real/event-stream.ts';
import type { Push } from '../../../../services/inventory/admin/contract.ts';
import { listen } from '../../../listen.ts';

/** A lab listener whose streams the test writes. */
async function openListener(status = 200) {
  const streams: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(status).flushHeaders();
    streams.push(response);
  });
  return { labUrl: `http://127.0.0.1:${await listen(server)}`, server, streams };
}

/** Follows a node until the test has ended, and keeps what it says: `first 1` for the first push of a stream, then `2`, … */
function follow(labUrl: string, options: Partial<FollowOptions> = {}) {
  const told: string[] = [];
  const { close } = followNode(labUrl, {
    onPush: ({ at }: Push, isFirst) => void told.push(isFirst ? `first ${at}` : `${at}`),
    onGone: (why) => void told.push(why),
    ...options,
  });
  onTestFinished(close);
  return { told, close };
}

const line = (at: number) => `${JSON.stringify({ at, events: [], dropped: 0, cleared: false })}\n`;

test('event stream: a node whose stream has ended is followed again; half a line is told when it is whole', async () => {
  const { labUrl, streams } = await openListener();
  const { told } = follow(labUrl);
  await expect.poll(() => streams.length).toBe(1);
  streams[0]?.write(line(1) + line(2).slice(0, 9));
  await expect.poll(() => told).toEqual(['first 1']);
  streams[0]?.end(line(2).slice(9));
  await expect.poll(() => streams.length).toBe(2);
  streams[1]?.write(line(3));

  await expect.poll(() => told).toEqual(['first 1', '2', 'its stream has ended', 'first 3']);
});

test('event stream: a node that is silent for 3 s is gone, and followed on when it is heard again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { labUrl, server } = await openListener();
  const pushes = new EventEmitter();
  const { told } = follow(labUrl, { onPush: () => pushes.emit('push') });
  const [, stream] = await once(server, 'request');
  const hears = async (at: number) => {
    const heard = once(pushes, 'push');
    stream.write(line(at));
    await heard;
  };

  await hears(1);
  vi.advanceTimersByTime(2_999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['it stopped sending']);

  await hears(2);
  vi.advanceTimersByTime(3_000);
  expect(told).toEqual(['it stopped sending', 'it stopped sending']);
});

test('event stream: what is no line of a stream is never told, and tried again', async () => {
  const { labUrl, streams } = await openListener();
  const { told } = follow(labUrl);
  await expect.poll(() => streams.length).toBe(1);
  streams[0]?.write('{"at":1,"events":[]}\n');
  await expect.poll(() => streams.length).toBe(2);
  streams[1]?.write(line(2));

  const why = 'it sent something that is not a line of a stream: {"at":1,"events":[]}';
  await expect.poll(() => told.map((each) => each.replace(/,$/, ''))).toEqual([why, 'first 2']);
});
