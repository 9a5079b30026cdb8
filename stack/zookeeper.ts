// Opens the ZooKeeper of a run: the one at ZOOKEEPER_URL, or a private server.

import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { openZookeeper as openSession } from '../locks/drivers/zookeeper-session.ts';
import { installLines } from './install-lines.ts';
import type { OwnServer } from './own-parts.ts';
import { retryOnTakenPort, startPart } from './parts.ts';
import { findOnPath } from './path.ts';
import { freePort } from './ports.ts';

const DEBIAN_JAR = '/usr/share/java/zookeeper.jar';
/** Its magic number, its version, and the id of the database. */
const LOG_HEADER_BYTES = 16;

export type ZookeeperServer = Awaited<ReturnType<typeof openZookeeper>>;

/** Why no ZooKeeper can be started here, with the line that installs it; undefined when one can. */
export function whyNoZookeeper(): string | undefined {
  if (installedZookeeper()) return undefined;
  return `ZooKeeper or Java is not installed: ${installLines('zookeeper')}.`;
}

/**
 * The ZooKeeper to use: the given one, else a new one of so many servers that works in `dir`. Rejects when neither is there. The URL is
 * `host:port` of each server with commas, and the folder to work in if one was given; the members are its processes, when they are ours.
 */
export async function openZookeeper(
  givenUrl: string | undefined,
  { dir, count = 1 }: { dir: string; count?: number | undefined },
) {
  if (givenUrl !== undefined) {
    await mustAnswer(givenUrl);
    const [, host = '', port] = /^([^:]+):(\d+)/.exec(givenUrl) ?? [];
    // One that allows no question about its version is used all the same.
    const version = await askVersion(host, Number(port)).catch(() => undefined);
    return { url: givenUrl, version: version ?? 'of an unknown version', members: [] as OwnServer[] };
  }
  const installed = installedZookeeper();
  if (installed === undefined) throw new Error(whyNoZookeeper());
  return retryOnTakenPort(() => startServers(count, installed, dir));
}

/** Starts a server, or several that elect one of them as their leader: then each answers when a majority of them runs. */
async function startServers(count: number, installed: Installed, dir: string) {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const places: string[] = [];
  for (const id of ids) places.push(`server.${id}=127.0.0.1:${await freePort()}:${await freePort()}`);
  const lines = count > 1 ? [...ofEnsemble, ...places] : [];
  const starts = await Promise.allSettled(ids.map(async (id) => startOn(await freePort(), installed, dir, id, lines)));
  const members = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  for (const start of starts) {
    if (start.status === 'fulfilled') continue;
    for (const { part } of members) await part.stop();
    throw start.reason;
  }
  const [port = 0] = members.map((member) => member.port);
  const version = (await askVersion('127.0.0.1', port)) ?? '';
  return { url: members.map(({ port }) => `127.0.0.1:${port}`).join(','), version, members };
}

/** In ticks: how long a server may take to follow its leader (10 s), and how far behind it may be (2 s). */
const ofEnsemble = ['initLimit=100', 'syncLimit=20'];

type Installed = NonNullable<ReturnType<typeof installedZookeeper>>;

/** `id`: which of several it is; `lines` are the settings that name them all. */
async function startOn(port: number, installed: Installed, dir: string, id: number, lines: string[]) {
  const dataDir = join(dir, `zookeeper-${port}`);
  const config = join(dir, `zookeeper-${port}.cfg`);
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'myid'), String(id));
  writeFileSync(config, [...settings(port, dataDir), ...lines, ''].join('\n'));
  const startAgain = () => {
    dropUnbegunLogs(join(dataDir, 'version-2'));
    return startPart({
      name: lines.length > 0 ? `zookeeper ${id}` : 'zookeeper',
      command: installed.java,
      args: [
        // Ready sooner: compile lightly, and let the operating system write to the disk when it likes. A killed server loses nothing.
        ...['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
        ...['-Dzookeeper.forceSync=no', '-Dzookeeper.jmx.log4j.disable=true', '-Dzookeeper.preAllocSize=1024'],
        ...['-cp', installed.classPath, 'org.apache.zookeeper.server.quorum.QuorumPeerMain', config],
      ],
      cwd: dir,
      addresses: [{ port }],
      isReady: async () => (await ask('conf', '127.0.0.1', port)).includes(`dataDir=${dataDir}/`),
    });
  };
  return { port, part: await startAgain(), startAgain };
}

/**
 * A server that is killed as it begins a log leaves one without a header, and with such a log ZooKeeper 3.8 does not start
 * (ZOOKEEPER-2332). Nothing is in it.
 */
function dropUnbegunLogs(dir: string) {
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const file = join(dir, name);
    if (name.startsWith('log.') && statSync(file).size < LOG_HEADER_BYTES) rmSync(file);
  }
}

/** Only on loopback, and a session may be as short as a drill's lease. */
function settings(port: number, dataDir: string) {
  return [
    `dataDir=${dataDir}`,
    `clientPort=${port}`,
    'clientPortAddress=127.0.0.1',
    'admin.enableServer=false',
    // What it answers to (default srvr): its version, and its settings.
    '4lw.commands.whitelist=srvr,conf',
    // How exactly the end of a session is kept, in milliseconds (default 3000).
    'tickTime=100',
    'minSessionTimeout=200',
    'maxSessionTimeout=60000',
    // All clients have the same address here (default 60).
    'maxClientCnxns=0',
  ];
}

/** The Java and the class path to start ZooKeeper with: as Debian installs them, or Homebrew. Undefined when there is none. */
export function installedZookeeper() {
  const java = findOnPath('java');
  if (java && existsSync(DEBIAN_JAR)) return { java, classPath: DEBIAN_JAR };
  const zkServer = findOnPath('zkServer');
  if (zkServer === undefined) return undefined;
  const homebrew = join(dirname(zkServer), '../opt');
  return { java: join(homebrew, 'openjdk/bin/java'), classPath: join(homebrew, 'zookeeper/libexec/lib/*') };
}

/** Rejects with one sentence when no ZooKeeper answers at `url`. */
async function mustAnswer(url: string) {
  const session = openSession({ url, sessionMs: 4_000 });
  try {
    await session.enter();
  } catch {
    throw new Error(`the ZooKeeper at ZOOKEEPER_URL does not respond: ${url}`);
  } finally {
    await session.close();
  }
}

/** Resolves with the version, such as `3.8.0`; with undefined when the server says none. */
async function askVersion(host: string, port: number): Promise<string | undefined> {
  return /^Zookeeper version: ([\d.]+)/.exec(await ask('srvr', host, port))?.[1];
}

/** Resolves with the answer to one of the server's words of four letters. */
function ask(word: string, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, host, () => socket.write(word));
    socket.setTimeout(1000, () => socket.destroy(new Error('no reply')));
    socket.once('error', reject);
    socket.on('data', (chunk) => (answer += chunk));
    socket.once('end', () => {
      socket.destroy();
      resolve(answer);
    });
  });
}
