// Starts the servers other than Redis that strategies need, and opens a namespace in each for every stack.

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

interface Kind {
  /** What leads a node to its server. */
  setting: 'MYSQL_URL' | 'ZOOKEEPER_URL';
  /** Why none can be started, as a sentence; undefined when one can. */
  whyNone(): string | undefined;
  /** Opens the given one, or a new one: a server of the run, or several that act as one. Their processes are there when they are ours. */
  open(given: string | undefined, dir: string, options: BackendOptions): Promise<Server>;
}

interface Server {
  version: string;
  members: OwnServer[];
  /** Resolves with the address of a namespace of this name. */
  openNamespace(name: string): Promise<string>;
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
    setting: 'MYSQL_URL',
    whyNone: whyNoMysql,
    async open(given, dir, { mysqlPort: port }) {
      const { version, members, database } = await openMysql(given, { dir, port });
      return { version, members, openNamespace: database };
    },
  },
  zookeeper: {
    setting: 'ZOOKEEPER_URL',
    whyNone: whyNoZookeeper,
    async open(given, dir, { zookeepers: count }) {
      const { url, version, members } = await openZookeeper(given, { dir, count });
      const several = members.length > 1 ? `, ${members.length} servers` : '';
      return { version: version + several, members, openNamespace: async (name) => `${url}/${name}` };
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
  const servers: (Server & Pick<Kind, 'setting'>)[] = [];
  const parts = createOwnParts(options.onSpare);
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let namespaces = 0;

  async function start(backend: Backend, kind: Kind) {
    const { setting } = kind;
    const given = process.env[setting] || undefined;
    lacks[backend] = given === undefined ? kind.whyNone() : undefined;
    if (lacks[backend] !== undefined) return;
    temp ??= makeTempDir();
    const dir = join(temp.dir, backend);
    mkdirSync(dir);
    const server = await kind.open(given, dir, options);
    servers.push({ setting, ...server });
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
      const name = `stack_${namespaces}`;
      const settings = servers.map(async ({ setting, openNamespace }) => [setting, await openNamespace(name)]);
      return Object.fromEntries(await Promise.all(settings));
    },
    lacks,
    versions,
    processes,
    /** Resolves as soon as a server ends that nobody stopped. */
    partDied: parts.partDied,
    stop,
  };
}
