// A simulated server: a real Valkey whose process can be paused and killed, and whose clock can be set ahead.

import { createInbox } from './inbox.ts';
import type { Schedule } from './schedule.ts';
import { scriptTexts } from './scripts.ts';
import { type Connection, frame, type Hearer, openValkey, type Reply, type Valkey } from './valkey.ts';
import type { Command } from './world/commands.ts';

/** The connection of everything outside the nodes. */
export const OUTSIDE: Connection = 0;

/** The numbers of the connections that are sockets begin above this. */
const FIRST_SOCKET = 1_000;
/** What has come over a connection of another server comes over one of so much more. */
const FIRST_COPIED = 1_000_000;
/** How often a server looks whose command has waited for long enough, in milliseconds. */
const LOOK_MS = 100;

/** A command that the server has carried out. */
export interface Heard {
  at: number;
  connection: Connection;
  command: Command;
}

/** How long a replica takes to say that it has heard, and how often a WAIT that was not answered looks again, in milliseconds. */
const CONFIRM_MS = 0.2;
const CONFIRM_LOOK_MS = 10;

/** What ioredis says of a command whose connection was closed. */
export const CLOSED = 'Connection is closed.';

/** A client, which is told when its connection is lost. */
export interface Client {
  lose(why: string, how: 'end' | 'reset'): void;
}

/** What hears the messages of the channels to which a connection listens. */
type Listener = (channel: string, message: string) => void;

export type VirtualServer = Awaited<ReturnType<typeof openServer>>;

/** Servers that nobody uses any more: a new one takes 15 ms, and one that has to forget scripts 2. */
const idle: { valkey: Valkey; knowsScripts: boolean }[] = [];
const changesScripts = ({ command: [name] }: Heard) => /^(SCRIPT|EVAL|FUNCTION)$/i.test(String(name));

/** A server without a key, which knows every script of `lua/`. */
export async function openServer(schedule: Schedule) {
  const { valkey, knowsScripts } = idle.pop() ?? { valkey: await openValkey(), knowsScripts: false };
  valkey.setTime(0);
  const load = scriptTexts.map((text) => ['SCRIPT', 'LOAD', text]);
  const forget = () => void valkey.pipeline(OUTSIDE, [['FLUSHALL'], ['SCRIPT', 'FLUSH'], ...load]);
  if (knowsScripts) valkey.pipeline(OUTSIDE, [['FLUSHALL']]);
  else forget();
  const heard: Heard[] = [];
  const connections = new Set<Connection>();
  /** How much of what it has heard each replica has heard, too. */
  const replicas: (() => number)[] = [];
  const clients = new Set<Client>();
  const listeners = new Map<Connection, Listener>();
  let status: 'running' | 'stopped' | 'dead' = 'running';
  const inbox = createInbox({
    schedule,
    waitMs: () => (status === 'running' ? 0 : Number.POSITIVE_INFINITY),
    take: (run) => run(),
  });
  let aheadMs = 0;
  let lastSocket = FIRST_SOCKET;
  /** Those who look at it after each command. */
  const onlookers = new Set<() => void>();
  /** Sockets that the server has not answered yet. */
  const unanswered = new Set<Connection>();

  /** Commands come over a connection, and `carryOut` has Valkey do what they say. */
  function hear<Answer>(connection: Connection, commands: Command[], carryOut: () => Answer): Answer {
    valkey.setTime(schedule.now() + aheadMs);
    for (const command of commands) heard.push({ at: schedule.now(), connection, command });
    const answer = carryOut();
    for (const look of onlookers) look();
    return answer;
  }

  function execute(connection: Connection, command: Command): Reply {
    connections.add(connection);
    const { reply, messages } = hear(connection, [command], () => valkey.run(connection, command));
    for (const { to, message } of messages) {
      const [kind, channel, text] = message as string[];
      if (kind === 'message') listeners.get(to)?.(String(channel), String(text));
    }
    return reply;
  }

  /** Carries commands out now of which no listener hears. */
  function executeAll(connection: Connection, commands: Command[]): Reply[] {
    connections.add(connection);
    return hear(connection, commands, () => valkey.pipeline(connection, commands));
  }

  /** Bytes of a command come over a socket. Returns what is said there at once, as text; undefined when its connection has ended. */
  function exchange(connection: Connection, command: Command, bytes: Buffer): string | undefined {
    if (!connections.has(connection)) return undefined;
    const said = hear(connection, [command], () => valkey.exchange(connection, bytes));
    if (said === '' && connections.has(connection)) {
      if (unanswered.size === 0) look();
      unanswered.add(connection);
    }
    return said;
  }

  /** A command such as BLPOP waits at the server: that looks from time to time whether its time is over. */
  function look() {
    schedule.after(LOOK_MS, () => {
      if (unanswered.size === 0 || status === 'dead') return unanswered.clear();
      look();
      if (status !== 'running') return;
      valkey.setTime(schedule.now() + aheadMs);
      valkey.step();
    });
  }

  /** Something comes to it: `run` is called now, or when its process goes on; never when that is dead. */
  function receive(run: () => void) {
    if (status !== 'dead') inbox.put(run);
  }

  function forgetConnection(connection: Connection) {
    connections.delete(connection);
    unanswered.delete(connection);
    listeners.delete(connection);
  }

  function disconnect(connection: Connection) {
    forgetConnection(connection);
    valkey.close(connection);
  }

  return {
    heard,
    isRunning: () => status === 'running',
    isStopped: () => status === 'stopped',
    isDead: () => status === 'dead',
    /** A client has connected. Returns what ends that. */
    connect(client: Client): () => void {
      clients.add(client);
      return () => void clients.delete(client);
    },
    /** Carries a command out now, and tells those who listen. */
    execute,
    /** Calls `look` after each command. What it asks, it asks with `read`. */
    watch: (look: () => void) => void onlookers.add(look),
    /** Carries a command out that changes nothing: nobody hears of it. */
    read: (...command: string[]): Reply => valkey.run(OUTSIDE, command).reply,
    /** From here on a connection hears the messages of its channels. */
    listen: (connection: Connection, listener: Listener) => void listeners.set(connection, listener),
    exchange,
    /** Opens a socket: the hearer gets all that is said over it, as bytes. */
    open({ hear, isLeft }: Hearer): Connection {
      lastSocket += 1;
      const connection = lastSocket;
      connections.add(connection);
      valkey.attach(connection, {
        hear(bytes) {
          unanswered.delete(connection);
          hear(bytes);
        },
        isLeft() {
          forgetConnection(connection);
          isLeft();
        },
      });
      return connection;
    },
    executeAll,
    /** Carries out at their times what another server has heard. Nobody listens to this one. */
    replay(past: Heard[]) {
      for (const { at, connection, command } of past) {
        const copied = FIRST_COPIED + connection;
        connections.add(copied);
        valkey.attach(copied, { hear() {}, isLeft() {} });
        valkey.setTime(at);
        valkey.exchange(copied, Buffer.from(frame(command), 'latin1'));
      }
    },
    /** Another server hears what this one does: `hasHeard` says how much of it. */
    addReplica: (hasHeard: () => number) => void replicas.push(hasHeard),
    /**
     * Answers WAIT with how many replicas have received all that this connection has sent: as soon as `count` of them have, or after
     * `limitMs`. With 0 ms there is no limit.
     */
    wait(connection: Connection, count: number, limitMs: number, answer: (count: number) => void) {
      const sent = heard.findLastIndex((each) => each.connection === connection) + 1;
      const confirmed = () => replicas.filter((hasHeard) => hasHeard() >= sent).length;
      const lookIn = (ms: number, leftMs: number) =>
        schedule.after(ms, () => {
          if (confirmed() >= count || leftMs === 0) receive(() => answer(confirmed()));
          else if (status !== 'dead') lookIn(Math.min(CONFIRM_LOOK_MS, leftMs), Math.max(0, leftMs - CONFIRM_LOOK_MS));
        });
      lookIn(CONFIRM_MS, Math.max(0, (limitMs || Number.POSITIVE_INFINITY) - CONFIRM_MS));
    },
    receive,
    /** A connection ends, and with it what it listens to. */
    disconnect,
    /** Sets its clock ahead of the simulated one, in milliseconds. */
    setAhead(ms: number) {
      aheadMs = ms;
    },
    /** Pauses the process: SIGSTOP. */
    stop() {
      if (status === 'running') status = 'stopped';
    },
    /** Resumes it: SIGCONT. It reads what has come meanwhile. */
    resume() {
      if (status !== 'stopped') return;
      status = 'running';
      inbox.resume();
    },
    /** Ends the process at once: SIGKILL. */
    kill() {
      status = 'dead';
      inbox.clear();
      for (const client of [...clients]) client.lose(CLOSED, 'end');
      for (const connection of connections) if (connection !== OUTSIDE) disconnect(connection);
    },
    /** Starts it again, with the data that it had or without a key. */
    start({ keepsData }: { keepsData: boolean }) {
      if (!keepsData) forget();
      status = 'running';
    },
    /** Nobody uses it any more. */
    close() {
      for (const connection of connections) if (connection !== OUTSIDE) valkey.close(connection);
      idle.push({ valkey, knowsScripts: !heard.some(changesScripts) });
    },
  };
}
