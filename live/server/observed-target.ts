// Sees what is done to a stack: wraps a target, so that a page can show its parts and its lines while drills break them.

import { setTimeout as sleep } from 'node:timers/promises';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import type { Target, TargetNode } from '../../loadtest/harness/target.ts';
import type { Breakable, Replica } from '../../scripts/stack/stack.ts';
import type { Line, Part } from '../contract.ts';
import { observeLines } from './observed-lines.ts';

const SKU = '001';
/** Within this time a node has told its news, in milliseconds: it tells them every 50 ms, and they are shown every 100 ms. */
const NEWS_MS = 200;

export interface ObservedTarget {
  /** Does what the given one does. A node is killed a moment later, when it has told what it did. */
  target: Target;
  /**
   * Every part. A server is `cut` when it runs and each line to it is cut. A part that dies by itself is not seen: `target.partDied` is
   * there for that.
   */
  parts(): Part[];
  /** Every line from a node to a server, and that from Redis to the replica that it has from its start. */
  lines(): Line[];
  /** How the stock of sku 001 was last set through this target; undefined before that. */
  stockSet(): StockSet | undefined;
}

export interface StockSet {
  units: number;
  times: number;
  /** When it was set, in milliseconds on the shared clock. */
  at: number;
}

/** A part, and where it is reached. */
interface ObservedPart {
  name: string;
  kind: Part['kind'];
  is: 'up' | 'stopped' | 'dead';
  url?: string;
}

/** Calls `onChange` after each change of a part, of a line, or of what the stock was set to. */
export function observeTarget(target: Target, onChange: () => void): ObservedTarget {
  const { stack } = target;
  const parts: ObservedPart[] = [];
  const lines = observeLines(onChange);
  let stockSet: StockSet | undefined;

  function add(name: string, kind: Part['kind'], url?: string): ObservedPart {
    const part: ObservedPart = { name, kind, is: 'up', ...(url !== undefined && { url }) };
    parts.push(part);
    return part;
  }

  function seeProcess<P extends Breakable>(process: P, part: ObservedPart, toldMs = 0): P {
    const change = (is: ObservedPart['is']) => {
      part.is = is;
      onChange();
    };
    return {
      ...process,
      signal(name: NodeJS.Signals) {
        process.signal(name);
        // A dead process takes no signal.
        if (part.is === 'dead') return;
        if (name === 'SIGSTOP') change('stopped');
        if (name === 'SIGCONT') change('up');
        if (name === 'SIGKILL') change('dead');
      },
      async kill() {
        if (toldMs > 0) await sleep(toldMs);
        const killed = process.kill();
        change('dead');
        return killed;
      },
      start() {
        const started = process.start();
        started.then(
          () => change('up'),
          () => {},
        );
        return started;
      },
    };
  }

  /** A server that is started while a drill goes on is a part until it is stopped. */
  async function seeServer<S extends Replica>(starting: Promise<S>, name: string, kind: Part['kind']): Promise<S> {
    const server = await starting;
    const part = add(freeName(name), kind, server.url);
    onChange();
    return {
      ...server,
      async stop() {
        await server.stop();
        parts.splice(parts.indexOf(part), 1);
        onChange();
      },
    };
  }

  function freeName(name: string): string {
    const isTaken = (wanted: string) => parts.some((part) => part.name === wanted);
    for (let count = 2, free = name; ; count += 1) {
      if (!isTaken(free)) return free;
      free = `${name}-${count}`;
    }
  }

  function seeNode(node: TargetNode): TargetNode {
    const { name, process, link, masterLinks, backendLinks } = node;
    const part = nodeParts.get(name);
    const seenLink = link && lines.see(link, name, redis.name);
    const seenMasterLinks = masterLinks?.map((each, at) => lines.see(each, name, masterName(at)));
    if (link === undefined) lines.draw(name, redis.name);
    if (!masterLinks?.length) for (const at of masters.keys()) lines.draw(name, masterName(at));
    const seenBackendLinks = Object.fromEntries(
      Object.entries(backendLinks ?? {}).map(([backend, each]) => [backend, lines.see(each, name, backend)]),
    );
    for (const backend of backends) if (seenBackendLinks[backend] === undefined) lines.draw(name, backend);
    return {
      ...node,
      ...(process && part && { process: seeProcess(process, part, NEWS_MS) }),
      ...(seenLink && { link: seenLink }),
      ...(seenMasterLinks && { masterLinks: seenMasterLinks }),
      ...(backendLinks && { backendLinks: seenBackendLinks }),
      async setStock(units, sku) {
        await node.setStock(units, sku);
        if (sku !== undefined && sku !== SKU) return;
        stockSet = { units, times: (stockSet?.times ?? 0) + 1, at: sharedClock() };
        onChange();
      },
    };
  }

  function seeStack(given: NonNullable<Target['stack']>): NonNullable<Target['stack']> {
    const { redisProcess, replica, startReplica } = given;
    return {
      ...given,
      ...(redisProcess && { redisProcess: seeProcess(redisProcess, redis) }),
      ...(replica?.line && { replica: { ...replica, line: lines.see(replica.line, redis.name, 'replica') } }),
      ...(startReplica && {
        startReplica: (primaryUrl: string) => seeServer(startReplica(primaryUrl), 'replica', 'replica'),
      }),
      startClockServer: () => seeServer(given.startClockServer(), 'clock-server', 'redis'),
      masters: masters.map(({ process, ...master }, at) => ({
        ...master,
        ...(process && { process: seeProcess(process, masterParts[at] as ObservedPart) }),
      })),
    };
  }

  add('nginx', 'nginx', target.url);
  const nodeParts = new Map(target.nodes.map(({ name, publicUrl }) => [name, add(name, 'node', publicUrl)]));
  const redis = add('redis', 'redis', stack?.redis.url);
  if (stack?.replica) add('replica', 'replica', stack.replica.url);
  const masters = stack?.masters ?? [];
  const masterParts = masters.map(({ url }, at) => add(masterName(at), 'master', url));
  const backends = (['zookeeper', 'mysql'] as const).filter(
    (backend) =>
      target.backends[backend] !== undefined || target.nodes.some((node) => node.backendLinks?.[backend] !== undefined),
  );
  for (const backend of backends) add(backend, backend);
  if (stack?.replica && stack.replica.line === undefined) lines.draw(redis.name, 'replica');
  const nodes = target.nodes.map(seeNode);
  const seenStack = stack && seeStack(stack);
  const readLines = () => lines.read((url) => parts.find((part) => part.url === url)?.name);

  return {
    target: { ...target, nodes, ...(seenStack && { stack: seenStack }) },
    parts() {
      const drawn = readLines();
      return parts.map(({ name, kind, is }) => {
        const own = drawn.filter(({ to }) => to === name);
        const isCut = is === 'up' && own.length > 0 && own.every((line) => line.is === 'cut');
        return { name, kind, is: isCut ? 'cut' : is };
      });
    },
    lines: readLines,
    stockSet: () => stockSet,
  };
}

const masterName = (at: number) => `master-${at + 1}`;
