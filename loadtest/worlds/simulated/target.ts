// The simulation as a target of the harness: drills and their test bed run on it as on real servers.

import type { Tell } from '../../../simulation/events.ts';
import type { Lab } from '../../../simulation/lab.ts';
import type { VirtualProxy } from '../../../simulation/proxy.ts';
import type { VirtualServer } from '../../../simulation/server.ts';
import { isMeant } from '../../../stack/proxy/command.ts';
import { createHold } from '../../../stack/proxy/hold.ts';
import type { Link } from '../../../stack/proxy/link.ts';
import type { Master } from '../../../stack/stack.ts';
import type { ReplicaLine } from '../../harness/network.ts';
import type { Target } from '../../harness/target.ts';
import { ourWire } from '../../harness/wire.ts';
import type { Deed } from '../../narration/faults.ts';
import { because } from '../../narration/reasons.ts';
import { type Harness, joinLab } from './driver.ts';
import { BALANCER_URL, networkOf } from './network.ts';
import { targetNodeOf } from './node.ts';

const FIRST_REDIS_PORT = 6379;
const FIRST_LINK_PORT = 10_000;
/** So many links has a node at most. */
const LINKS = 100;
const NO_SUCH_SERVER = because('server not simulated');

export interface VirtualTarget {
  target: Target;
  harness: Harness;
}

/** Aims at the two nodes of a lab. Its Redis has a replica from the start, if the lock waits for one. */
export async function openVirtualTarget(lab: Lab, { hasReplica = false } = {}): Promise<VirtualTarget> {
  const harness = joinLab(lab);
  // As on real servers, where the links are in the process of the harness.
  for (const proxy of lab.proxies.flat()) proxy.isIn(harness);
  /** What finds the server at each address. */
  const places = new Map<string, () => VirtualServer>();

  /** Gives a server an address. */
  function place(find: () => VirtualServer): string {
    const url = `redis://127.0.0.1:${FIRST_REDIS_PORT + places.size}`;
    places.set(url, find);
    return url;
  }

  function serverAt(url: string): VirtualServer {
    const find = places.get(url);
    if (find === undefined) throw new Error(`There is no server at ${url}.`);
    return find();
  }

  const redisUrl = place(() => lab.redis);
  const replication = createReplication(lab.redis, redisUrl);

  async function startReplica(lineUrl: string) {
    if (!replication.leadsHere(lineUrl)) throw new Error('The replica did not get in sync with Redis.');
    const replica = await lab.openServer();
    const catchUp = replication.follow(replica, lineUrl);
    const url = place(() => {
      catchUp();
      return replica;
    });
    return { url, async stop() {} };
  }

  async function startLasting() {
    const line = replication.openLine();
    return { line, ...(await startReplica(line.url)) };
  }
  const lasting = hasReplica ? await startLasting() : undefined;
  const masters = lab.masters.map(
    (server): Master => ({ url: place(() => server), process: processOf(lab, server, { keepsData: false }) }),
  );
  const urls = [redisUrl, ...masters.map(({ url }) => url)];
  const portOf = (index: number, server: number) => FIRST_LINK_PORT + LINKS * index + server;
  const nodes = lab.proxies.map((proxies, index) => {
    const links = proxies.map((proxy, server) => linkOf(urls[server] ?? '', portOf(index, server), proxy, serverAt));
    return targetNodeOf({ lab, harness, index, links });
  });

  const network = networkOf({
    lab,
    harness,
    serverAt,
    proxyAt(port) {
      const number = port - FIRST_LINK_PORT;
      return lab.proxies[Math.floor(number / LINKS)]?.[number % LINKS];
    },
    openLine: replication.openLine,
  });

  const target: Target = {
    clock: harness.clock,
    network,
    wire: ourWire,
    url: BALANCER_URL,
    nodes,
    redis: { kind: 'native', version: 'Valkey 9.1.1' },
    redisLacks: {},
    nginx: 'virtual',
    backends: {},
    lacks: {
      mysql: NO_SUCH_SERVER,
      'own mysql': NO_SUCH_SERVER,
      zookeeper: NO_SUCH_SERVER,
      ...(masters.length === 0 && { masters: NO_SUCH_SERVER, 'master processes': NO_SUCH_SERVER }),
    },
    stack: {
      redis: { url: redisUrl, kind: 'native' },
      redisProcess: processOf(lab, lab.redis, { keepsData: true }),
      startReplica,
      ...(lasting && { replica: lasting }),
      async startClockServer() {
        const server = await lab.openServer();
        return { url: place(() => server), setAhead: server.setAhead, async stop() {} };
      },
      masters,
      nginx: { url: BALANCER_URL, kind: 'native', version: 'virtual', async stop() {} } as never,
    },
    tell: lab.tell as Tell<Deed>,
    partDied: new Promise(() => {}),
    async close() {},
  };

  return { target, harness };
}

/** The process of a server, to stop and to kill. */
function processOf(lab: Lab, server: VirtualServer, { keepsData }: { keepsData: boolean }): Master['process'] & object {
  return {
    signal(signal) {
      const isStop = signal === 'SIGSTOP';
      lab.tell({ kind: 'server', is: isStop ? 'stopped' : 'resumed' });
      if (isStop) server.stop();
      else server.resume();
    },
    async kill() {
      lab.tell({ kind: 'server', is: 'killed' });
      server.kill();
    },
    async start() {
      lab.tell({ kind: 'server', is: 'started again' });
      server.start({ keepsData });
    },
  };
}

/** A proxy as a link of the harness. `serverAt` finds the server at an address. */
function linkOf(url: string, port: number, proxy: VirtualProxy, serverAt: (url: string) => VirtualServer): Link {
  return {
    url,
    port,
    counters: proxy.counters,
    holdNext(meant) {
      const hold = createHold(meant, () => forget());
      const forget = proxy.hold({
        isMeant: (command) => isMeant(meant, command),
        arrive: (command, { letGo, drop }) =>
          hold.arrive(command, {
            letGo: () => hold.settle(letGo()),
            drop() {
              drop();
              hold.settle(false);
            },
          }),
      });
      return hold.held;
    },
    watch: proxy.watch,
    delayReplies: proxy.delayReplies,
    cut: (how = 'reset') => proxy.cut(how),
    restore: proxy.restore,
    moveTo: (redisUrl) => proxy.moveTo(serverAt(redisUrl)),
    async close() {},
  };
}

/** The replicas of the server at this address, and the lines to them. */
function createReplication(primary: VirtualServer, primaryUrl: string) {
  /** How much of what the first has heard passes over each line, by its address; all of it until it is cut. */
  const lines = new Map([[primaryUrl, { passes: Number.POSITIVE_INFINITY }]]);

  return {
    /** Opens a line to the first server. It can be cut once, for ever. */
    openLine(): ReplicaLine {
      const line = { passes: Number.POSITIVE_INFINITY };
      const port = 20_000 + lines.size;
      const url = `redis://127.0.0.1:${port}`;
      lines.set(url, line);
      return {
        url,
        port,
        cut() {
          line.passes = Math.min(line.passes, primary.heard.length);
        },
        restore() {},
        async close() {},
      };
    },
    /** True when somebody who copies over this line gets something. */
    leadsHere: (lineUrl: string) => lines.has(lineUrl),
    /** Makes a server copy the first over a line. Returns what brings it up to date: it is called before each look at it. */
    follow(replica: VirtualServer, lineUrl: string): () => void {
      let copied = 0;
      const hasHeard = () => Math.min(primary.heard.length, lines.get(lineUrl)?.passes ?? 0);
      primary.addReplica(hasHeard);
      return () => {
        const until = hasHeard();
        replica.replay(primary.heard.slice(copied, until));
        copied = Math.max(copied, until);
      };
    },
  };
}
