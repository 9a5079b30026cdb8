// Starts the servers that strategies need besides Redis, and opens a namespace on each for every stack.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../locks/strategy.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { openMysql, whyNoMysql } from './mysql.ts';
import { all, createOwnParts, type OwnProcess, type OwnServer } from './own-parts.ts';
import { makeTempDir } from './parts.ts';
import { openZookeeper, whyNoZookeeper } from './zookeeper.ts';

/** The servers that a run's strategies need besides Redis: one of each, shared by all stacks of the run. */
export type Backends = Awaited<ReturnType<typeof startBackends>>;

interface Kind {
  /** The setting that gives a node the server's address. */
  setting: 'MYSQL_URL' | 'ZOOKEEPER_URL';
  /** Why no server can be started, as a sentence; undefined if one can. */
  whyNone(): string | undefined;
  /** Opens the given server, or starts one or a group of them. Includes their processes if we started them. */
  open(given: string | undefined, dir: string, options: BackendOptions): Promise<Server>;
}

interface Server {
  version: string;
  members: OwnServer[];
  /** Resolves with the address of a namespace with this name. */
  openNamespace(name: string): Promise<string>;
}

export interface BackendOptions {
  /** The port of our own MySQL; a free port by default. */
  mysqlPort?: number | undefined;
  /** How many servers our own ZooKeeper has (1). */
  zookeepers?: number | undefined;
  /** Called when a server has ended that its group can do without. */
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
 *
 * Starts what is needed and not given by MYSQL_URL or ZOOKEEPER_URL, on free ports where the options name none. Servers that
 * are not available are listed in `lacks`. An invalid address ends the process like `readSettingsOrExit`.
 *
 */
export async function startBackends(needed: Backend[], options: BackendOptions = {}) {
  readSettingsOrExit(inventorySettings.pick({ MYSQL_URL: true, ZOOKEEPER_URL: true }), process.env);
  /** Why a server is not available: a sentence with the command that installs it. */
  const lacks: Partial<Record<Backend, string>> = {};
  /** The version of each server, such as `10.11.19-MariaDB`. */
  const versions: Partial<Record<Backend, string>> = {};
  /** Their processes, if drills may break them: all stacks of the run share them. */
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
    /** Settings for the nodes of another stack: a separate namespace on each server. */
    async openNamespace(): Promise<NodeJS.ProcessEnv> {
      namespaces += 1;
      const name = `stack_${namespaces}`;
      const settings = servers.map(async ({ setting, openNamespace }) => [setting, await openNamespace(name)]);
      return Object.fromEntries(await Promise.all(settings));
    },
    lacks,
    versions,
    processes,
    /** Resolves as soon as a server ends unexpectedly. */
    partDied: parts.partDied,
    stop,
  };
}
