import { afterAll, beforeAll, expect } from 'vitest';
import { openZookeeper as openSession } from '../../../locks/drivers/zookeeper-session.ts';
import type { Zookeeper } from '../../../locks/lock.ts';
import { makeTempDir, type Part } from '../../../stack/parts.ts';
import { openZookeeper, type ZookeeperServer } from '../../../stack/zookeeper.ts';
import { ownKeys } from '../own-keys.ts';

/** A ZooKeeper for one test file. No lock may be held in it when the tests have ended. */
export function ownZookeeper() {
  const key = ownKeys();
  const sessions: Zookeeper[] = [];
  let temp: ReturnType<typeof makeTempDir>;
  let server: ZookeeperServer;
  let part: Part | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openZookeeper(undefined, temp);
    part = server.members[0]?.part;
  });

  afterAll(async () => {
    const session = await connect().enter();
    const queues = await session.list('/locks');
    const held = await Promise.all(queues.map(({ path }) => session.list(path)));
    await Promise.all(sessions.map((each) => each.close()));
    await part?.stop();
    temp.remove();
    expect(held.flat()).toEqual([]);
  });

  const url = (folder = '') => `${server.url}${folder}`;

  /** A new session, which is closed after the last test. */
  function connect(sessionMs = 30_000, folder = '') {
    const session = openSession({ url: url(folder), sessionMs });
    sessions.push(session);
    return session;
  }

  return {
    url,
    connect,
    key,
    /** The nodes in the queue of a key, the oldest first. */
    nodes: async (key: string) => (await connect().enter()).list(`/locks/${encodeURIComponent(key)}`),
    /** Removes a node behind its owner's back. */
    remove: async (path: string) => (await connect().enter()).remove(path),
    /** The server stops answering without ending, as on a frozen machine. */
    freeze: () => part?.signal('SIGSTOP'),
    resume: () => part?.signal('SIGCONT'),
  };
}
