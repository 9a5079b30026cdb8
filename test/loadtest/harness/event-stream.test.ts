import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type FollowOptions, followNode, type Push } from '../../../loadtest/harness/event-stream.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { ownTargets } from '../drills/own-targets.ts';

const { use } = ownTargets(1);

/** Follows a node until the test has ended, and keeps what it says. */
function follow(labUrl: string, options: Partial<FollowOptions> = {}) {
  const pushes: (Push & { isFirst: boolean })[] = [];
  const gone: string[] = [];
  const { close } = followNode(labUrl, {
    onPush: (push, isFirst) => void pushes.push({ ...push, isFirst }),
    onGone: (why) => void gone.push(why),
    ...options,
  });
  onTestFinished(close);
  return { pushes, gone, close };
}

test('event stream: a node that was killed is followed again when it lives again, as another process', () =>
  use(async ({ nodes: [node] }) => {
    if (node?.process === undefined) throw new Error('The node is not ours.');
    const { pushes, gone } = follow(node.labUrl);
    await until('it is followed', () => pushes.length > 0);
    const before = pushes[0]?.state?.instance;

    await node.process.kill();
    await until('its death is noticed', () => gone.length > 0);
    await node.process.start();
    await until('it is followed again', () => pushes.filter(({ isFirst }) => isFirst).length === 2);

    expect(gone).toHaveLength(1);
    expect(before).toEqual(expect.any(String));
    const [, again] = pushes.filter(({ isFirst }) => isFirst);
    expect(again?.state?.instance).toBe((await node.state()).instance);
    expect(again?.state?.instance).not.toBe(before);
  }));

test('event stream: a node that stands still is gone, and followed on when it goes on', () =>
  use(async ({ nodes: [node] }) => {
    if (node?.process === undefined) throw new Error('The node is not ours.');
    const { pushes, gone } = follow(node.labUrl);
    await until('it is followed', () => pushes.length > 0);

    node.process.signal('SIGSTOP');
    try {
      await until('its silence is noticed', () => gone.length > 0);
    } finally {
      node.process.signal('SIGCONT');
    }
    const seen = pushes.length;
    await until('it is heard again', () => pushes.length > seen);

    expect(gone).toEqual(['it says nothing any more']);
    expect(pushes.filter(({ isFirst }) => isFirst)).toHaveLength(1);
  }));

test('event stream: it ends when it is closed, or its signal aborts, and says nothing more', () =>
  use(async ({ nodes: [node] }) => {
    const aborting = new AbortController();
    const followers = [follow(node?.labUrl ?? ''), follow(node?.labUrl ?? '', { signal: aborting.signal })];
    for (const { pushes } of followers) await until('it is followed', () => pushes.length > 0);

    followers[0]?.close();
    aborting.abort();
    const seen = followers.map(({ pushes }) => pushes.length);
    const other = follow(node?.labUrl ?? '');
    await until('another one hears of the next second', () => other.pushes.length > 2);

    expect(followers.map(({ pushes }) => pushes.length)).toEqual(seen);
    expect(followers.map(({ gone }) => gone)).toEqual([[], []]);
    expect(follow(node?.labUrl ?? '', { signal: aborting.signal }).pushes).toEqual([]);
  }));

test('event stream: what is no line of a stream is never told, and tried again', async () => {
  const answers = [
    '{"at":1,"events":[]}\n',
    'nonsense\n',
    '',
    '{"at":2,"events":[],"dropped":0,"cleared":false}\n{"at',
  ];
  let asked = 0;
  const server = createServer((_request, response) => {
    response.end(answers[asked] ?? answers.at(-1));
    asked += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());

  const { pushes, gone } = follow(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await until('it is followed', () => pushes.length > 1);

  // The first three had nothing to tell, so it was gone once; then after each stream.
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(gone[0]).toBe('it sends what is no line of a stream: {"at":1,"events":[]}');
  expect(pushes[0]).toEqual({ at: 2, events: [], dropped: 0, cleared: false, isFirst: true });
});

test('event stream: who is refused says why', async () => {
  const server = createServer((_request, response) => void response.writeHead(503).end('{"code":"TOO_MANY_STREAMS"}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());

  const { gone } = follow(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await until('it is refused', () => gone.length > 0);

  expect(gone).toEqual(['it was answered 503: {"code":"TOO_MANY_STREAMS"}']);
});
