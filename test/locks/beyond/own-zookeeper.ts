import { afterAll, beforeAll, expect } from 'vitest';
import { openZookeeper as openSession, type ZookeeperSession } from '../../../locks/drivers/zookeeper-session.ts';
import { makeTempDir, type Part } from '../../../scripts/stack/parts.ts';
import { openZookeeper, type ZookeeperServer } from '../../../scripts/stack/zookeeper.ts';
import { ownKeys } from '../own-keys.ts';

/** A ZooKeeper for one test file. No lock may be held in it when the tests have ended. */
export function ownZookeeper() {
  const keys = ownKeys();
  const sessions: ZookeeperSession[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let server: ZookeeperServer | undefined;
  let part: Part | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openZookeeper(undefined, temp);
    part = server.part;
  });

  afterAll(async () => {
    const lost = keys.lost();
    const held = server && (await heldLocks());
    await Promise.all(sessions.map((session) => session.close()));
    await part?.stop();
    temp?.remove();
    expect({ held, lost }).toEqual({ held: [], lost: [] });
  });

  function url(folder = '') {
    if (server === undefined) throw new Error('The server is started before the first test.');
    return `${server.url}${folder}`;
  }

  /** A new session, which is closed after the last test. */
  function connect(sessionMs = 30_000, folder = '') {
    const session = openSession({ url: url(folder), sessionMs });
    sessions.push(session);
    return session;
  }

  async function heldLocks() {
    const session = await connect().enter();
    const all = await session.list('/locks');
    const queues = all.filter(({ name }) => !keys.isOfFailed(decodeURIComponent(name)));
    const nodes = await Promise.all(queues.map((queue) => session.list(`/locks/${queue.name}`)));
    return nodes.flat();
  }

  async function kill() {
    part?.signal('SIGKILL');
    await part?.ended;
  }

  async function startAgain() {
    part = await server?.startAgain?.();
  }

  return {
    url,
    connect,
    key: keys.key,
    /** The nodes in the queue of a key, the oldest first. */
    nodes: async (key: string) => (await connect().enter()).list(`/locks/${encodeURIComponent(key)}`),
    /** Removes a node behind its owner's back. */
    remove: async (key: string, node: string) =>
      (await connect().enter()).remove(`/locks/${encodeURIComponent(key)}/${node}`),
    /** The server stops answering without ending, as on a frozen machine. */
    freeze: () => part?.signal('SIGSTOP'),
    resume: () => part?.signal('SIGCONT'),
    kill,
    /** After kill(): starts the server again with its data. */
    startAgain,
    /** Where the server has its data, when it is down. */
    dataDir: () => `${temp?.dir}/zookeeper-${url().split(':')[1]}`,
  };
}
