// Starts the servers beyond Redis that strategies need, and opens a namespace of each for every stack.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../locks/strategy.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { openMysql, whyNoMysql } from './mysql.ts';
import { dismissReaper, makeTempDir, type Part, PartError } from './parts.ts';
import type { Breakable } from './stack.ts';
import { openZookeeper, whyNoZookeeper, type ZookeeperCount } from './zookeeper.ts';

/** The servers beyond Redis that the strategies of a run need: one of each, for all stacks of the run. */
export interface Backends {
  /** Settings for the nodes of one more stack: a namespace of each server that no other stack uses. */
  openNamespace(): Promise<NodeJS.ProcessEnv>;
  /** Why a server can't be had: a sentence with the line that installs it. */
  lacks: Partial<Record<Backend, string>>;
  /** What there is, such as `10.11.19-MariaDB`. */
  versions: Partial<Record<Backend, string>>;
  /** Their processes, when they are ours to break: all stacks of the run share them. */
  processes: Partial<Record<Backend, BackendProcess[]>>;
  /** Resolves as soon as a server ends that nobody stopped. */
  partDied: Promise<PartError>;
  stop(): Promise<void>;
}

export interface BackendProcess extends Breakable {
  pid(): number;
}

interface Member {
  part: Part;
  startAgain: () => Promise<Part>;
}

/** A server of a run, or several that act as one. */
interface Server {
  version: string;
  /** The processes, when they are ours. */
  members: Member[];
  /** Resolves with the settings that lead a node to a namespace of this name. */
  openNamespace(name: string): Promise<NodeJS.ProcessEnv>;
}

interface Kind {
  /** Why there can't be one, as a sentence; undefined when there can. */
  whyNone(): string | undefined;
  start(dir: string, options: BackendOptions): Promise<Server>;
}

export interface BackendOptions {
  /** Where a MySQL of our own listens; a free port when it is not given. */
  mysqlPort?: number | undefined;
  /** How many servers a ZooKeeper of our own has (1). */
  zookeepers?: ZookeeperCount | undefined;
  /** Told when one of several servers has ended that the others may do without. */
  onSpare?: ((sentence: string) => void) | undefined;
}

const kinds: Partial<Record<Backend, Kind>> = {
  mysql: {
    whyNone: () => (process.env['MYSQL_URL'] ? undefined : whyNoMysql()),
    async start(dir, { mysqlPort: port }) {
      const { version, database, ...own } = await openMysql(process.env['MYSQL_URL'] || undefined, { dir, port });
      return { version, members: membersOf(own), openNamespace: async (name) => ({ MYSQL_URL: await database(name) }) };
    },
  },
  zookeeper: {
    whyNone: () => (process.env['ZOOKEEPER_URL'] ? undefined : whyNoZookeeper()),
    async start(dir, { zookeepers: count }) {
      const { url, version, ...own } = await openZookeeper(process.env['ZOOKEEPER_URL'] || undefined, { dir, count });
      const members = own.members ?? membersOf(own);
      const several = members.length > 1 ? `, ${members.length} servers` : '';
      const openNamespace = async (name: string) => ({ ZOOKEEPER_URL: `${url}/${name}` });
      return { version: version + several, members, openNamespace };
    },
  },
};

const membersOf = ({ part, startAgain }: Partial<Member>): Member[] =>
  part && startAgain ? [{ part, startAgain }] : [];

/**
 * Starts what is needed and not given by MYSQL_URL or ZOOKEEPER_URL, on free ports where the options name none. What can't be had is said
 * in `lacks`. An address that is not allowed ends the process as `readSettingsOrExit`.
 */
export async function startBackends(needed: Backend[], options: BackendOptions = {}): Promise<Backends> {
  readSettingsOrExit(inventorySettings.pick({ MYSQL_URL: true, ZOOKEEPER_URL: true }), process.env);
  const lacks: Backends['lacks'] = {};
  const versions: Backends['versions'] = {};
  const processes: Backends['processes'] = {};
  const servers: Server[] = [];
  /** What runs now. */
  const parts = new Set<Part>();
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let namespaces = 0;
  let isStopping = false;
  let reportDeath: (error: PartError) => void;
  const partDied = new Promise<PartError>((resolve) => {
    reportDeath = resolve;
  });

  /** From here on its end is a death, unless it is killed by its name, or one of several. */
  function watch(backend: Backend, part: Part, isSpare: boolean): Part {
    parts.add(part);
    void part.ended.then((sentence) => {
      if (!parts.delete(part) || isStopping) return;
      if (isSpare) options.onSpare?.(sentence);
      else reportDeath(new PartError(backend, sentence));
    });
    return part;
  }

  function breakable(backend: Backend, { part, startAgain }: Member, isSpare: boolean): BackendProcess {
    watch(backend, part, isSpare);
    return {
      pid: () => part.pid,
      signal: (name) => part.signal(name),
      async kill() {
        parts.delete(part);
        part.signal('SIGKILL');
        await part.ended;
      },
      async start() {
        part = watch(backend, await startAgain(), isSpare);
      },
    };
  }

  async function start(backend: Backend, kind: Kind) {
    lacks[backend] = kind.whyNone();
    if (lacks[backend] !== undefined) return;
    temp ??= makeTempDir();
    const dir = join(temp.dir, backend);
    mkdirSync(dir);
    const server = await kind.start(dir, options);
    const { members } = server;
    servers.push(server);
    versions[backend] = server.version;
    if (members.length > 0) processes[backend] = members.map((each) => breakable(backend, each, members.length > 1));
  }

  async function stop() {
    if (isStopping) return;
    isStopping = true;
    await Promise.all([...parts].map((part) => part.stop()));
    temp?.remove();
    if (temp) await dismissReaper();
  }

  try {
    const wanted = Object.entries(kinds).filter(([backend]) => needed.includes(backend as Backend));
    const starts = await Promise.allSettled(wanted.map(([backend, kind]) => start(backend as Backend, kind)));
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    async openNamespace() {
      namespaces += 1;
      const settings = await Promise.all(servers.map((server) => server.openNamespace(`stack_${namespaces}`)));
      return Object.assign({}, ...settings);
    },
    lacks,
    versions,
    processes,
    partDied,
    stop,
  };
}
