// A session is what ZooKeeper keeps of one process: the ephemeral nodes that it made are there as long as it lasts.
//
// connecting ──► open ──► ended, and never open again
//
// It ends when the connection breaks, when ZooKeeper says that it has expired, when a request goes unanswered, or when
// nothing was heard for two thirds of the session time: ZooKeeper, which waits for all of it, cannot have given the nodes to
// others yet. A session that broke could be resumed, but its holders have stopped already. So it is given up as a whole: it
// is closed as soon as ZooKeeper hears of it, and with it goes every node that a lost answer left behind.

import { once, setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { dirname } from 'node:path/posix';
import { type Client, CreateMode, createClient, Exception, type Stat } from 'node-zookeeper-client';
import type { Zookeeper, ZookeeperSession } from '../lock.ts';
import { abortable, abortError } from './abortable.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';
import { ZookeeperUnavailableError } from './zookeeper-unavailable.ts';

/** The most that the client waits before it connects again, in milliseconds. */
const RECONNECT_DELAY_MS = 100;
/** The state of a client that has no session on its present connection yet. */
const CONNECTING = 1;

const MOST_CZXIDS = 10_000;

export interface ZookeeperOptions {
  /** `host:port`, several of them with commas; a path after them is the folder that everything is kept in. */
  url: string;
  /** How long ZooKeeper keeps a session that it hears nothing of, in milliseconds. The server sets bounds to it. */
  sessionMs: number;
  /** Told whenever a session is lost, or none can be had, and whenever ZooKeeper has answered after that. */
  outage?: { began(): void; ended(): void };
}

/** Does nothing until somebody enters. */
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
      // One client tries until ZooKeeper is there, however many ask meanwhile and give up.
      opening ??= open();
      return abortable(opening, AbortSignal.timeout(ANSWER_LIMIT_MS)).catch(() => {
        outage?.began();
        throw new ZookeeperUnavailableError();
      });
    },
    async close() {
      // One that is not open yet has nothing to give up; it is closed when it opens.
      if (opening) void opening.then((session) => session.close());
      else await current?.close();
    },
  };
}

/** A client that connects, and connects again whenever its connection breaks, until it is closed or its session expires. */
function connect(servers: string, sessionMs: number): Client {
  const client = createClient(servers, { sessionTimeout: sessionMs, spinDelay: RECONNECT_DELAY_MS });
  client.connect();

  // The client waits for ever for the answer to its greeting, which a server that is just starting drops. So a connection
  // that is not greeted back between two looks is cut. Only the inside of the client shows it.
  const { connectionManager } = client as Client & { connectionManager: { state: number; socket?: Socket } };
  let greeting: Socket | undefined;
  const look = setInterval(() => {
    const { state, socket } = connectionManager;
    const isOver = state < 0;
    if (isOver) clearInterval(look);
    else if (state === CONNECTING && socket === greeting) socket?.destroy(new Error('ZooKeeper does not greet back.'));
    greeting = socket;
  }, ANSWER_LIMIT_MS / 2);
  return client;
}

/** The session of a connected client. */
function startSession(client: Client, root: string, outage: ZookeeperOptions['outage']): ZookeeperSession {
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const sessionMs = client.getSessionTimeout();
  /** The numbers of nodes, by path. No name is used again, so a number that is known stays right. */
  const czxids = new Map<string, bigint>();
  let heardAt = performance.now();
  const heartbeat = setInterval(beat, sessionMs / 6);
  client.once('disconnected', lose);
  client.once('expired', lose);

  function beat() {
    const sentAt = performance.now();
    // The client itself never notices that an answer is missing.
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

  /** Sends a request. Resolves with the answer, or with undefined when there is no such node. */
  async function ask<T>(send: (answer: (error: Error | Exception | null, value: T) => void) => void) {
    let isAnswered = false;
    // After a pause of this process the answer may be here unread: it is read before the immediate runs.
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
   * Resolves with the number of the change that made a node: no two are the same, a later one is larger. Undefined when it is
   * gone.
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
      // Both are sent at once, and answered in order: to learn the number costs no round trip of its own.
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
      // The client forgets a watch only when it fires: a single try leaves none behind.
      if (signal?.aborted) throw abortError(signal);
      let emitGone = () => {};
      const gone = new Promise<void>((resolve) => (emitGone = resolve));
      // Not exists(): on a node that is gone already, that would leave a watch for ever.
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

/** Closes a session that was given up, on the connection of now or on the next one that the client gets. */
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
