// A simulated fault proxy before a server: it holds, delays and cuts traffic, as stack/proxy does on real connections.

import type { ReadCommand } from './scripts.ts';
import { CLOSED, type Client, type VirtualServer } from './server.ts';

export type { ReadCommand };

/** Where a command is held. Each resolves the hold; what comes later does nothing. */
export interface Place {
  /** Passes it on, and what came after it. Returns false when the server is not there to get it. */
  letGo(): boolean;
  /** It never reaches the server, and its connection ends. */
  drop(): void;
}

interface Hold {
  isMeant(command: ReadCommand): boolean;
  arrive(command: ReadCommand, place: Place): void;
}

export type VirtualProxy = ReturnType<typeof createProxy>;

/** A proxy that leads to this server until it is moved to another. */
export function createProxy(first: VirtualServer) {
  const holds = new Set<Hold>();
  const watchers = new Set<(command: ReadCommand) => void>();
  /** Those that are connected, and how many connections of a real client each stands for. */
  const clients = new Map<Client, number>();
  /** What came while it was silent. */
  let stuck: { run: () => void; isEnd: boolean }[] = [];
  let cut: 'reset' | 'silent' | undefined;
  let server = first;
  let delayMs = 0;
  /** Gives what comes to the process in which the proxy is. */
  let take = (run: () => void) => run();
  /** What has come so far. */
  const counters = {
    connections: 0,
    get open() {
      return [...clients.values()].reduce((sum, each) => sum + each, 0);
    },
    commands: new Map<string, number>(),
    held: 0,
  };

  function count(name: string) {
    counters.commands.set(name, (counters.commands.get(name) ?? 0) + 1);
  }

  function endConnections() {
    const ends = stuck.filter(({ isEnd }) => isEnd);
    stuck = [];
    for (const { run } of ends) take(run);
    for (const client of [...clients.keys()]) client.lose(CLOSED, 'reset');
  }

  return {
    counters,
    server: () => server,
    delayMs: () => delayMs,
    /** True when a new connection gets through to the server. */
    isOpen: () => cut === undefined && server.isRunning(),
    /** True when it takes a connection: only a reset refuses one. */
    takes: () => cut !== 'reset' && !server.isDead(),
    /**
     * A node has connected. What stands for two connections of ioredis asks first of all whether the server is ready. Returns what
     * ends that.
     */
    connect(client: Client, connections = 2): () => void {
      clients.set(client, connections);
      counters.connections += connections;
      if (connections === 2) count('INFO');
      return () => void clients.delete(client);
    },
    /** Something comes: it passes now, or when the proxy is restored. The end of a connection passes when that is reset, too. */
    pass(run: () => void, isEnd = false) {
      if (cut === 'silent') stuck.push({ run, isEnd });
      else take(run);
    },
    /** The proxy is in a process of its own from here on: that takes what comes when it can. */
    isIn(process: { take(run: () => void): void }) {
      take = process.take;
    },
    /** A command comes. */
    see(command: ReadCommand) {
      count(command.name);
      if (command.script !== undefined) count(command.script);
      for (const see of watchers) see(command);
    },
    /** The hold that is meant for a command: of several, the oldest. It waits for no other. */
    holdFor(command: ReadCommand): Hold | undefined {
      for (const hold of holds) {
        if (!hold.isMeant(command)) continue;
        holds.delete(hold);
        counters.held += 1;
        return hold;
      }
    },
    /** Waits for the next command that is meant. Returns what ends that. */
    hold(hold: Hold): () => void {
      holds.add(hold);
      return () => void holds.delete(hold);
    },
    /** Calls `see` with every command that comes. Returns what ends that. */
    watch(see: (command: ReadCommand) => void): () => void {
      watchers.add(see);
      return () => void watchers.delete(see);
    },
    /** Passes every reply on this much later, in milliseconds. */
    delayReplies(ms: number) {
      delayMs = ms;
    },
    /** `reset` ends every connection, and takes no new one. `silent` closes nothing: what comes passes after `restore`. */
    cut(how: 'reset' | 'silent') {
      cut = how;
      if (how === 'reset') endConnections();
    },
    restore() {
      cut = undefined;
      const came = stuck;
      stuck = [];
      for (const { run } of came) take(run);
    },
    /** Ends every connection; new ones lead to this server. */
    moveTo(next: VirtualServer) {
      // A connection ends at the server that it led to.
      endConnections();
      server = next;
    },
  };
}
