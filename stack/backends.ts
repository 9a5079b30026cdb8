// Starts the servers beyond Redis that strategies need, and opens a namespace of each for every stack.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../locks/strategy.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { openMysql, whyNoMysql } from './mysql.ts';
import { all, createOwnParts, type OwnProcess, type OwnServer } from './own-parts.ts';
import { makeTempDir } from './parts.ts';
import { openZookeeper, whyNoZookeeper } from './zookeeper.ts';

/** The servers beyond Redis that the strategies of a run need: one of each, for all stacks of the run. */
export type Backends = Awaited<ReturnType<typeof startBackends>>;

/** A server of a run, or several that act as one. */
interface Server {
  version: string;
  /** The processes, when they are ours. */
  members: OwnServer[];
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
  zookeepers?: number | undefined;
  /** Told when one of several servers has ended that the others may do without. */
  onSpare?: ((sentence: string) => void) | undefined;
}

const kinds: Partial<Record<Backend, Kind>> = {
  mysql: {
    whyNone: () => (process.env['MYSQL_URL'] ? undefined : whyNoMysql()),
    async start(dir, { mysqlPort: port }) {
      const { version, database, part, startAgain } = await openMysql(process.env['MYSQL_URL'] || undefined, {
        dir,
        port,
      });
      const members = part && startAgain ? [{ part, startAgain }] : [];
      return { version, members, openNamespace: async (name) => ({ MYSQL_URL: await database(name) }) };
    },
  },
  zookeeper: {
    whyNone: () => (process.env['ZOOKEEPER_URL'] ? undefined : whyNoZookeeper()),
    async start(dir, { zookeepers: count }) {
      const given = process.env['ZOOKEEPER_URL'] || undefined;
      const { url, version, members } = await openZookeeper(given, { dir, count });
      const several = members.length > 1 ? `, ${members.length} servers` : '';
      const openNamespace = async (name: string) => ({ ZOOKEEPER_URL: `${url}/${name}` });
      return { version: version + several, members, openNamespace };
    },
  },
};

/**
 * Starts what is needed and not given by MYSQL_URL or ZOOKEEPER_URL, on free ports where the options name none. What can't be had is said
 * in `lacks`. An address that is not allowed ends the process as `readSettingsOrExit`.
 */
export async function startBackends(needed: Backend[], options: BackendOptions = {}) {
  readSettingsOrExit(inventorySettings.pick({ MYSQL_URL: true, ZOOKEEPER_URL: true }), process.env);
  /** Why a server can't be had: a sentence with the line that installs it. */
  const lacks: Partial<Record<Backend, string>> = {};
  /** What there is, such as `10.11.19-MariaDB`. */
  const versions: Partial<Record<Backend, string>> = {};
  /** Their processes, when they are ours to break: all stacks of the run share them. */
  const processes: Partial<Record<Backend, OwnProcess[]>> = {};
  const servers: Server[] = [];
  const parts = createOwnParts(options.onSpare);
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let namespaces = 0;

  async function start(backend: Backend, kind: Kind) {
    lacks[backend] = kind.whyNone();
    if (lacks[backend] !== undefined) return;
    temp ??= makeTempDir();
    const dir = join(temp.dir, backend);
    mkdirSync(dir);
    const server = await kind.start(dir, options);
    servers.push(server);
    versions[backend] = server.version;
    const isOneOfSeveral = server.members.length > 1;
    const own = server.members.map((member) => parts.breakable(member, isOneOfSeveral));
    if (own.length > 0) processes[backend] = own;
  }

  const stop = () => parts.stopAll(() => temp?.remove());

  try {
    const wanted = Object.entries(kinds).filter(([backend]) => needed.includes(backend as Backend));
    await all(wanted.map(([backend, kind]) => start(backend as Backend, kind)));
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    /** Settings for the nodes of one more stack: a namespace of each server that no other stack uses. */
    async openNamespace(): Promise<NodeJS.ProcessEnv> {
      namespaces += 1;
      const settings = await Promise.all(servers.map((server) => server.openNamespace(`stack_${namespaces}`)));
      return Object.assign({}, ...settings);
    },
    lacks,
    versions,
    processes,
    /** Resolves as soon as a server ends that nobody stopped. */
    partDied: parts.partDied,
    stop,
  };
}
