// A session is ZooKeeper's record of one process: the ephemeral znodes that it created exist as long as the session lasts.
//
// connecting ──► open ──► ended, and never open again
//
// It ends when the connection breaks, when ZooKeeper says that it has expired, when a request gets no reply, or after two
// thirds of the session timeout without a reply: ZooKeeper waits for the whole timeout, so it cannot have deleted the znodes
// yet. A broken session could be resumed, but its holders have stopped already. So we give it up and close it as soon as
// ZooKeeper can be reached, which also deletes every znode whose create reply was lost.

import { once, setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { dirname } from 'node:path/posix';
import { type Client, CreateMode, createClient, Exception, type Stat } from 'node-zookeeper-client';
import type { Zookeeper, ZookeeperSession } from '../lock.ts';
import { abortable, abortError } from './abortable.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';
import { ZookeeperUnavailableError } from './zookeeper-unavailable.ts';

/** The longest delay before the client reconnects, in milliseconds. */
const RECONNECT_DELAY_MS = 100;
/** The state of a client without a session on its current connection. */
const CONNECTING = 1;

const MOST_CZXIDS = 10_000;

export interface ZookeeperOptions {
  /** `host:port`, several of them separated by commas; a path after them is the parent of all znodes. */
  url: string;
  /** The session timeout, in milliseconds: how long ZooKeeper keeps a session without heartbeats. The server limits it. */
  sessionMs: number;
  /** Called whenever a session is lost or can't be opened, and whenever ZooKeeper replies again after that. */
  outage?: { began(): void; ended(): void };
}

/** Does nothing until the first enter(). */
export function openZookeeper({ url, sessionMs, outage }: ZookeeperOptions): Zookeeper {
  const [servers = '', ...folders] = url.split('/');
  const root = folders.map((folder) => `/${folder}`).join('');
  let current: ZookeeperSession | undefined;
  let opening: Promise<ZookeeperSession> | undefined;

  async function open() {
    const client = connect(servers, sessionMs);
    await once(client, 'connected');
    outage?.ended();
    current = startSession(client, root, outage);
    opening = undefined;
    return current;
  }

  return {
    async enter() {
      if (current?.ended.aborted === false) return current;
      // One client keeps trying until ZooKeeper is available, however many requests give up meanwhile.
      opening ??= open();
      return abortable(opening, AbortSignal.timeout(ANSWER_LIMIT_MS)).catch(() => {
        outage?.began();
        throw new ZookeeperUnavailableError();
      });
    },
    async close() {
      // A session that is still opening has nothing to release; it is closed once it opens.
      if (opening) void opening.then((session) => session.close());
      else await current?.close();
    },
  };
}

/** A client that connects, and reconnects whenever its connection breaks, until it is closed or its session expires. */
function connect(servers: string, sessionMs: number): Client {
  const client = createClient(servers, { sessionTimeout: sessionMs, spinDelay: RECONNECT_DELAY_MS });
  client.connect();

  // The client waits forever for the reply to its connect request, which a server that is just starting drops. So we cut a
  // connection that has no reply between two checks. Only the client's internals show it.
  const { connectionManager } = client as Client & { connectionManager: { state: number; socket?: Socket } };
  let greeting: Socket | undefined;
  const look = setInterval(() => {
    const { state, socket } = connectionManager;
    const isOver = state < 0;
    if (isOver) clearInterval(look);
    else if (state === CONNECTING && socket === greeting)
      socket?.destroy(new Error('ZooKeeper does not reply to a new connection.'));
    greeting = socket;
  }, ANSWER_LIMIT_MS / 2);
  return client;
}

/** The session of a connected client. */
function startSession(client: Client, root: string, outage: ZookeeperOptions['outage']): ZookeeperSession {
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const sessionMs = client.getSessionTimeout();
  /** The numbers of znodes, by path. No name is reused, so a cached number stays correct. */
  const czxids = new Map<string, bigint>();
  let heardAt = performance.now();
  const heartbeat = setInterval(beat, sessionMs / 6);
  client.once('disconnected', lose);
  client.once('expired', lose);

  function beat() {
    const sentAt = performance.now();
    // The client itself never notices a missing reply.
    if (sentAt - heardAt > (sessionMs * 2) / 3) return lose();
    client.exists('/', (error) => {
      if (!error) heardAt = sentAt;
    });
  }

  function lose() {
    if (!ended.signal.aborted) outage?.began();
    end();
  }

  function end() {
    if (ended.signal.aborted) return;
    clearInterval(heartbeat);
    ended.abort(new ZookeeperUnavailableError());
    closeWhenHeard(client, () => outage?.ended());
  }

  /** Sends a request. Resolves with the reply, or with undefined if there is no such znode. */
  async function ask<T>(send: (answer: (error: Error | Exception | null, value: T) => void) => void) {
    let isAnswered = false;
    // After a pause of this process the reply may be here unread: it is read before the immediate runs.
    const timer = setTimeout(() => setImmediate(() => isAnswered || lose()), ANSWER_LIMIT_MS);
    const answer = new Promise<T | undefined>((resolve, reject) => {
      if (ended.signal.aborted) return;
      send((error, value) => {
        isAnswered = true;
        if (isCode(error, Exception.CONNECTION_LOSS, Exception.SESSION_EXPIRED)) lose();
        if (isCode(error, Exception.NO_NODE)) resolve(undefined);
        else if (error) reject(error);
        else resolve(value);
      });
    });
    return unlessEnded(answer).finally(() => clearTimeout(timer));
  }

  async function unlessEnded<T>(promise: Promise<T>) {
    return abortable(promise, ended.signal).catch((error) => {
      throw ended.signal.aborted ? ended.signal.reason : error;
    });
  }

  /**
   * Resolves with the ID of the change that created a znode (czxid): IDs are unique, and later ones are larger. Undefined if
   * the znode is gone.
   */
  async function czxidOf(path: string) {
    const known = czxids.get(path);
    if (known !== undefined) return known;
    const stat = await ask<Stat | null>((answer) => client.exists(root + path, answer));
    if (!stat) return undefined;
    const czxid = stat.czxid.readBigUInt64BE();
    if (czxids.size >= MOST_CZXIDS) czxids.clear();
    czxids.set(path, czxid);
    return czxid;
  }

  return {
    ended: ended.signal,
    async close() {
      if (ended.signal.aborted) return;
      const closed = once(client, 'disconnected', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
      end();
      await closed.catch(() => {});
    },
    async create(path, text) {
      const data = Buffer.from(text);
      const create = () => ask<string>((answer) => client.create(root + path, data, CreateMode.EPHEMERAL, answer));
      // Both requests are sent at once and answered in order, so the number costs no extra round trip.
      while ((await Promise.all([create(), czxidOf(path)]))[0] === undefined) {
        await ask<string>((answer) => client.mkdirp(root + dirname(path), answer));
      }
    },
    async list(folder) {
      const names = (await ask<string[]>((answer) => client.getChildren(root + folder, answer))) ?? [];
      const paths = names.map((name) => `${folder}/${name}`);
      const numbers = await Promise.all(paths.map(czxidOf));
      const nodes = paths.flatMap((path, at) => (numbers[at] === undefined ? [] : [{ path, czxid: numbers[at] }]));
      return nodes.toSorted((a, b) => (a.czxid < b.czxid ? -1 : 1));
    },
    async untilGone(path, signal) {
      // The client drops a watch only when it fires, so a single try sets none.
      if (signal?.aborted) throw abortError(signal);
      let emitGone = () => {};
      const gone = new Promise<void>((resolve) => (emitGone = resolve));
      // Not exists(): on a znode that is already gone, it would leave a watch forever.
      const isThere = await ask<true>((answer) =>
        client.getData(root + path, emitGone, (error) => answer(error, true)),
      );
      if (isThere) await unlessEnded(abortable(gone, signal));
    },
    async remove(path) {
      const isRemoved = await ask<boolean>((answer) => client.remove(root + path, (error) => answer(error, true)));
      czxids.delete(path);
      return isRemoved === true;
    },
  };
}

/** Closes a session that was given up, on the current connection or on the client's next one. */
function closeWhenHeard(client: Client, onHeard: () => void) {
  client.exists('/', (error) => {
    if (isCode(error, Exception.CONNECTION_LOSS)) return void setImmediate(closeWhenHeard, client, onHeard);
    client.close();
    onHeard();
  });
}

function isCode(error: unknown, ...codes: number[]) {
  return error instanceof Exception && codes.includes(error.code);
}
