// Starts the servers beyond Redis that strategies need, and opens a namespace of each for every stack.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../locks/strategy.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { openMysql, whyNoMysql } from './mysql.ts';
import { dismissReaper, makeTempDir, type Part, PartError } from './parts.ts';
import { openZookeeper, whyNoZookeeper } from './zookeeper.ts';

/** The servers beyond Redis that the strategies of a run need: one of each, for all stacks of the run. */
export interface Backends {
  /** Settings for the nodes of one more stack: a namespace of each server that no other stack uses. */
  openNamespace(): Promise<NodeJS.ProcessEnv>;
  /** Why a server can't be had: a sentence with the line that installs it. */
  lacks: Partial<Record<Backend, string>>;
  /** What there is, such as `10.11.19-MariaDB`. */
  versions: Partial<Record<Backend, string>>;
  /** Resolves as soon as a server ends that nobody stopped. */
  partDied: Promise<PartError>;
  stop(): Promise<void>;
}

/** A server of a run. */
interface Server {
  version: string;
  /** The process, when it is ours. */
  part?: Part;
  /** Resolves with the settings that lead a node to a namespace of this name. */
  openNamespace(name: string): Promise<NodeJS.ProcessEnv>;
}

interface Kind {
  /** Why there can't be one, as a sentence; undefined when there can. */
  whyNone(): string | undefined;
  start(dir: string, port?: number): Promise<Server>;
}

const kinds: Partial<Record<Backend, Kind>> = {
  mysql: {
    whyNone: () => (process.env['MYSQL_URL'] ? undefined : whyNoMysql()),
    async start(dir, port) {
      const server = await openMysql(process.env['MYSQL_URL'] || undefined, { dir, port });
      return { ...server, openNamespace: async (name) => ({ MYSQL_URL: await server.database(name) }) };
    },
  },
  zookeeper: {
    whyNone: () => (process.env['ZOOKEEPER_URL'] ? undefined : whyNoZookeeper()),
    async start(dir) {
      const server = await openZookeeper(process.env['ZOOKEEPER_URL'] || undefined, { dir });
      return { ...server, openNamespace: async (name) => ({ ZOOKEEPER_URL: `${server.url}/${name}` }) };
    },
  },
};

/**
 * Starts what is needed and not given by MYSQL_URL or ZOOKEEPER_URL, where `ports` says, else on free ports. What can't be had is said
 * in `lacks`. An address that is not allowed ends the process as `readSettingsOrExit`.
 */
export async function startBackends(needed: Backend[], ports: { mysql?: number } = {}): Promise<Backends> {
  readSettingsOrExit(inventorySettings.pick({ MYSQL_URL: true, ZOOKEEPER_URL: true }), process.env);
  const lacks: Backends['lacks'] = {};
  const versions: Backends['versions'] = {};
  const servers: Server[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let namespaces = 0;
  let isStopping = false;
  let reportDeath: (error: PartError) => void;
  const partDied = new Promise<PartError>((resolve) => {
    reportDeath = resolve;
  });

  async function start(backend: Backend, kind: Kind) {
    lacks[backend] = kind.whyNone();
    if (lacks[backend] !== undefined) return;
    temp ??= makeTempDir();
    const dir = join(temp.dir, backend);
    mkdirSync(dir);
    const server = await kind.start(dir, backend === 'mysql' ? ports.mysql : undefined);
    servers.push(server);
    versions[backend] = server.version;
    void server.part?.ended.then((sentence) => isStopping || reportDeath(new PartError(backend, sentence)));
  }

  async function stop() {
    if (isStopping) return;
    isStopping = true;
    for (const { part } of servers) await part?.stop();
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
    partDied,
    stop,
  };
}
