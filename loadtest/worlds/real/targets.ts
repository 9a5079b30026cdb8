// The stacks of a run, each started when the first drill needs it.

import type { Backend } from '../../../locks/index.ts';
import { type Backends, startBackends } from '../../../stack/backends.ts';
import type { RedisMode } from '../../../stack/redis-set.ts';
import { MASTERS, type StackOptions } from '../../../stack/stack.ts';
import type { Drill } from '../../harness/drill.ts';
import type { Target } from '../../harness/target.ts';
import { rowOf } from '../../staircase/lookup.ts';
import type { Row } from '../../staircase/staircase.ts';
import { openLocalTarget, openRunningTarget } from './target.ts';

/** The kinds of servers that a run starts for itself. */
export interface OwnServers {
  /** Their Redis (single). */
  redisMode?: RedisMode | undefined;
  /** How many servers their ZooKeeper has (1). */
  zookeepers?: number | undefined;
}

export interface TargetsOptions {
  /** A running stack to aim at, instead of stacks of our own. */
  running?: { url: string; labUrls: string[] } | undefined;
  /** The modules of the external locks, by their names. */
  modules?: Record<string, ExternalModule>;
  /** The backends of the strategies to be run. */
  backends?: Backend[];
  /** How many nodes the stacks of our own have for drills under load; two when it is not given. */
  nodes?: number | undefined;
  servers?: OwnServers | undefined;
  /** One drill runs after the other: it may kill the servers that the stacks share. */
  isAlone?: boolean;
  /** Somebody watches: the links of drills step by step read what Redis replies. */
  isWatched?: boolean;
  /** Settings of the nodes. */
  env?: NodeJS.ProcessEnv;
  /** The file that the nodes run, but those with an external lock; the inventory service when it is not given. */
  service?: string;
  /** Called with a sentence when a part dies that no drill killed; not under an external lock. */
  onDeath: (sentence: string) => void;
}

/** An external lock for the nodes of a stack. */
export interface ExternalModule {
  /** Where its module is. */
  file: string;
  backend: Backend;
}

interface Opened {
  /** The external lock that its nodes were given, if any. */
  external: string | undefined;
  /** What its row asks for, if it asks for anything. */
  own: Row['stack'];
  target: Promise<Target>;
  /** It has such a lock, and did not start or lost a part. */
  isDead?: boolean;
}

export type Targets = ReturnType<typeof createTargets>;

/** The stacks of a run, each started when the first drill needs it. */
export function createTargets(options: TargetsOptions) {
  const { running, modules = {}, backends: needed = [], onDeath } = options;
  const { servers: { redisMode, zookeepers } = {}, isAlone = false, isWatched, env: always = {}, service } = options;
  let backends: Promise<Backends> | undefined;
  const opened = new Map<string, Opened>();

  async function start(kind: Drill['kind'], external: string | undefined, own: Row['stack']): Promise<Target> {
    const forDrills = kind === 'steps';
    // A drill that goes step by step breaks the first two nodes, and others would stand idle.
    const nodes = forDrills ? undefined : options.nodes;
    if (external !== undefined)
      return openLocalTarget({ forDrills, nodes, ...settingsFor(external) }, await openBackends());
    const target = running
      ? await openRunningTarget(running.url, running.labUrls)
      : await openOurs({ forDrills, nodes }, own, await openBackends());
    void target.partDied.then(({ message }) => onDeath(message));
    return target;
  }

  function openOurs(asked: Pick<StackOptions, 'forDrills' | 'nodes'>, own: Row['stack'], servers: Backends) {
    // A node refuses settings of orders that it can't have; no drill of theirs will run on it.
    const { env, ...options } = own?.options ?? {};
    return openLocalTarget(
      {
        ...asked,
        readsReplies: isWatched,
        service,
        redisMode,
        ...options,
        // The drills set the lock. The one of the environment may need a server that is not there.
        env: {
          // What a drill breaks on purpose is no news.
          LOG_LEVEL: process.env['LOG_LEVEL'] || 'error',
          LOCK_VERSION: '',
          ...always,
          ...(servers.lacks.mysql === undefined && env),
        },
        masters: needed.includes('masters') ? MASTERS : 0,
        onLine: (name, line) => process.stderr.write(`${name}: ${line}\n`),
      },
      servers,
      { isAlone },
    );
  }

  /** Nodes with this lock. What it prints is shown to those who ask for the log. */
  function settingsFor(external: string) {
    const { LOG_LEVEL, NODE_OPTIONS = '' } = process.env;
    const env = {
      LOCK_MODULES: `${external}=${modules[external]?.file}`,
      LOG_LEVEL: LOG_LEVEL || 'silent',
      LOCK_VERSION: '',
      // Short enough that the last words of a node tell its error; tsx needs three to know who asks for a CommonJS module.
      NODE_OPTIONS: `${NODE_OPTIONS} --stack-trace-limit=4`.trim(),
    };
    const onLine = (name: string, line: string) => void process.stderr.write(`${external} on ${name}: ${line}\n`);
    const masters = modules[external]?.backend === 'masters' ? MASTERS : 0;
    return { env, masters, ...(LOG_LEVEL && { onLine }) };
  }

  /** A stack with an external lock has nothing to bring in order, and may not be able to. */
  async function close({ external, target }: Opened) {
    const open = await target.catch(() => undefined);
    if (external !== undefined) for (const { process } of open?.nodes ?? []) await process?.kill();
    await open?.close();
  }

  async function watchOver(entry: Opened) {
    await entry.target.then(({ partDied }) => partDied).catch(() => {});
    entry.isDead = true;
  }

  const nameOf = (kind: Drill['kind'], worker: number) => (running ? 'running' : `${kind} ${worker}`);

  async function discard(name: string) {
    const entry = opened.get(name);
    opened.delete(name);
    if (entry) await close(entry);
  }

  function openBackends() {
    backends ??= startBackends(needed, { zookeepers }).then((started) => {
      void started.partDied.then(({ message }) => onDeath(message));
      return started;
    });
    return backends;
  }

  return {
    /**
     * The stack for drills of this kind. Workers that run at the same time have one each, and so has each
     * external lock, and each row that asks for nodes of its own: a worker that goes on to another gets another stack. Rejects
     * when it does not start.
     */
    async open(kind: Drill['kind'], worker = 0, stage?: string): Promise<Target> {
      const name = nameOf(kind, worker);
      const external = stage !== undefined && Object.hasOwn(modules, stage) ? stage : undefined;
      const own = stage === undefined ? undefined : rowOf(stage)?.stack;
      const last = opened.get(name);
      if (last && (last.external !== external || last.own?.name !== own?.name || last.isDead)) await discard(name);
      const entry: Opened = opened.get(name) ?? { external, own, target: start(kind, external, own) };
      opened.set(name, entry);
      if (external !== undefined) void watchOver(entry);
      return entry.target;
    },
    /** Closes a stack that is broken: the next drill gets a new one. */
    discard: (kind: Drill['kind'], worker: number) => discard(nameOf(kind, worker)),
    /** Leaves each as it was found, the last one first. */
    async close() {
      for (const entry of [...opened.values()].reverse()) await close(entry);
      await (await backends?.catch(() => undefined))?.stop();
    },
  };
}
