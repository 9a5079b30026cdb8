import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import dotenv from 'dotenv';
import { describe, expect, test } from 'vitest';
import { fillIn } from '../../scripts/stack/nginx.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { inventorySettings } from '../../services/inventory/settings.ts';
import {
  addressOf,
  composeText,
  countOf,
  environmentOf,
  interpolate,
  networks,
  networksOf,
  optionOf,
  scriptOf,
  serviceNamed,
  services,
} from './compose-file.ts';
import { lastOf, stages } from './dockerfile.ts';

const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');
const nodes = ['node-1', 'node-2'];
/** Docker makes a missing ./reports as root, and only its owner may open it to the load test. */
const RUNS_AS_ROOT = 'reports-folder';
const template = read('nginx/nginx.conf.template');
const variablesOfTemplate = [...new Set([...template.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))].toSorted();
const node = { redis: 'service_healthy', zookeeper: 'service_healthy', mysql: 'service_healthy' };

/** What waits for what, what comes back after a crash, and what Docker asks for its health. */
const table: Record<string, { waitsFor?: object; isAsked?: boolean; comesBack?: boolean; count?: number }> = {
  redis: { isAsked: true },
  // It comes again after Redis, which starts empty.
  seed: { waitsFor: { redis: 'service_healthy' } },
  'node-1': { waitsFor: { ...node, seed: 'service_completed_successfully' }, isAsked: true, comesBack: true },
  'node-2': { waitsFor: { ...node, seed: 'service_completed_successfully' }, isAsked: true, comesBack: true },
  nginx: { waitsFor: { 'node-1': 'service_healthy', 'node-2': 'service_healthy' }, isAsked: true, comesBack: true },
  // A setting of the caller starts these two.
  zookeeper: { isAsked: true, count: 0 },
  mysql: { isAsked: true, count: 0 },
  'reports-folder': {},
  // Not on the stack, or `run` would make the nodes anew whenever its settings differ from those of `up`.
  loadtest: { waitsFor: { 'reports-folder': 'service_completed_successfully' }, count: 0 },
};

test('services: each waits for what it needs, is asked for its health, and comes back, as the table says', () => {
  const shown = Object.entries(services).map(([name, { depends_on = {}, healthcheck, restart, profiles }]) => {
    const waitsFor = Object.entries(depends_on).map(([other, { condition }]) => [other, condition]);
    const asked = healthcheck?.test[0] === 'CMD';
    // A profile would be left by a `down` that is not given it.
    return [name, { waitsFor: Object.fromEntries(waitsFor), asked, restart, count: countOf(name), profiles }];
  });
  const expected = Object.entries(table).map(([name, { waitsFor = {}, isAsked = false, comesBack, count = 1 }]) => [
    name,
    { waitsFor, asked: isAsked, restart: comesBack ? 'on-failure:5' : undefined, count, profiles: undefined },
  ]);

  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(expected));
  expect(serviceNamed('seed').depends_on?.['redis']?.restart).toBe(true);
  expect([countOf('zookeeper', { ZOOKEEPER_URL: 'a' }), countOf('mysql', { MYSQL_URL: 'a' })]).toEqual([1, 1]);
});

test.each(Object.entries(services))(
  '%s: it cannot write to its image nor gain rights, and has no root without a reason',
  (name, service) => {
    const isRoot = /^(root|0)(:|$)/.test(service.user ?? 'root');

    expect([service.read_only, service.cap_drop, service.security_opt]).toEqual([
      true,
      ['ALL'],
      ['no-new-privileges=true'],
    ]);
    expect([isRoot, service.cap_add ?? []]).toEqual(name === RUNS_AS_ROOT ? [true, ['FOWNER']] : [false, []]);
  },
);

describe.each(nodes)('settings of %s', (name) => {
  // They name files of the host, which no container can load.
  const ofHost = ['LOCK_MODULES', 'ORDER_MODULE'];
  const settings = Object.keys(inventorySettings.shape).filter((setting) => !ofHost.includes(setting));
  const own = ['PORT', 'NODE_NAME', 'LAB_PORT', 'LAB_HOST', 'LAB_ALLOWED_HOSTS', 'REDIS_URL', 'BUCKETS'];

  test('it is given every setting of the service: that of the caller, else the default of the code', () => {
    const caller = Object.fromEntries(
      settings.filter((each) => !own.includes(each)).map((each) => [each, `own ${each}`]),
    );
    // An empty variable counts as absent.
    const given = Object.entries(environmentOf(name)).filter(([, value]) => value !== '');
    const parsed = Object.entries(inventorySettings.parse(Object.fromEntries(given)));

    expect(Object.keys(environmentOf(name)).toSorted()).toEqual(settings.toSorted());
    expect(environmentOf(name, caller)).toMatchObject(caller);
    expect(inventorySettings.parse({})).toMatchObject(
      Object.fromEntries(parsed.filter(([each]) => !own.includes(each))),
    );
    expect(environmentOf(name)['REDIS_URL']).toBe('redis://redis:6379');
  });

  test('it differs from the other in its name, its address and its ports only, and has more time to stop than a sale waits', () => {
    const { environment = {}, networks: _own, ...service } = serviceNamed(name);
    const { NODE_NAME, PORT, LAB_PORT, ...shared } = environment;
    const { environment: others = {}, networks: _other, ...other } = serviceNamed('node-2');
    const ports = { 'node-1': [7777, 7778], 'node-2': [8888, 8889] }[name];
    const seconds = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1]);
    // A stopping node takes up to 3 s more: for its locks, and for its last answers.
    const enough = inventorySettings.parse({}).WAIT_TIMEOUT_MS / 1_000 + 3;

    expect([NODE_NAME, PORT, LAB_PORT]).toEqual([name, ...(ports ?? [])]);
    expect(service).toEqual(other);
    expect(others).toMatchObject(shared);
    expect(seconds).toBeGreaterThan(enough);
    expect(serviceNamed('nginx').stop_grace_period).toBe(service.stop_grace_period);
  });
});

test('variables: what the file takes from the caller is explained in .env.example, with the same default', () => {
  // Every line of it is a comment until someone takes the # away.
  const explained = dotenv.parse(read('.env.example').replace(/^# (?=[A-Z0-9_]+=)/gm, ''));
  const taken = [...composeText.matchAll(/\$\{(\w+):-([^}]+)\}/g)].map(([, name, other]) => [name, other]);

  expect(taken.map(([name]) => name)).toEqual(expect.arrayContaining(['LOCK_VERSION', 'NGINX_PORT', 'LAB_NETWORK']));
  expect(explained).toMatchObject(Object.fromEntries(taken));
});

describe('nginx', () => {
  const { command, environment = {}, volumes = [], tmpfs = [], ports, healthcheck } = serviceNamed('nginx');

  test('template: compose and the local stack fill in every variable, and give no other', () => {
    const { NGINX_ENVSUBST_OUTPUT_DIR: _folder, ...filledIn } = environment;
    const local = [...read('scripts/stack/nginx.ts').matchAll(/^ +([A-Z0-9_]+): /gm)].map(([, name]) => name);

    expect(Object.keys(filledIn).toSorted()).toEqual(variablesOfTemplate);
    expect(local.toSorted()).toEqual(variablesOfTemplate);
  });

  test('files: the template is read-only where the image looks, what the image writes is what nginx reads, all in memory', () => {
    const [source, target = '', mode] = (volumes[0] ?? '').split(':');
    const written = fillIn(template, environmentOf('nginx')).matchAll(/^ *(?:pid|\w+_temp_path) ([^;]+);/gm);
    const folders = [...written].map(([, path = '']) => path);
    const output = String(environment['NGINX_ENVSUBST_OUTPUT_DIR']);

    expect([source, mode, volumes.length]).toEqual(['./nginx/nginx.conf.template', 'ro', 1]);
    expect(target).toMatch(/^\/etc\/nginx\/templates\/[^/]+\.template$/);
    expect(command?.slice(0, 3)).toEqual(['nginx', '-c', join(output, basename(target, '.template'))]);
    expect(optionOf(command, '-g')).toBe('daemon off;');
    expect(folders.length).toBeGreaterThan(2);
    expect(folders.filter((path) => !tmpfs.some((dir) => path.startsWith(`${dir}/`)))).toEqual([]);
    expect(tmpfs).toContain(output);
  });

  test.each<Record<string, string>>([{}, { LAB_NETWORK: '10.1.2' }])(
    'addresses: the upstreams are the two nodes, by addresses that no other container is given, with %o',
    (env) => {
      const [prefix] = addressOf('node-1', env).split(/\d+$/);
      const [config] = networks['lab']?.ipam?.config ?? [];
      const { NODE_1, NODE_2 } = environmentOf('nginx', env);

      expect([NODE_1, NODE_2]).toEqual([`${prefix}11:7777`, `${prefix}12:8888`]);
      expect(nodes.map((name) => addressOf(name, env))).toEqual([`${prefix}11`, `${prefix}12`]);
      expect(interpolate(config?.subnet ?? '', env)).toBe(`${prefix}0/24`);
      expect(interpolate(config?.ip_range ?? '', env)).toBe(`${prefix}128/25`);
      expect(fillIn(template, environmentOf('nginx', env))).not.toMatch(/7778|8889/);
    },
  );

  test('ports: it alone publishes one, to this machine, which it listens on and its health check asks', () => {
    const listen = environment['NGINX_LISTEN'];
    const published = Object.entries(services).filter(([, { ports: given = [] }]) => given.length > 0);

    expect(published.map(([name]) => name)).toEqual(['nginx']);
    expect(ports).toEqual([`127.0.0.1:\${NGINX_PORT:-8080}:${listen}`]);
    expect(healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${listen}/nginx-healthz`);
    expect(template).toContain('location = /nginx-healthz {');
  });
});

test('networks: only nginx has one that leads out, and the host has no address in the other', () => {
  const open = (name: string) => networks[name]?.internal !== true;
  const unconnected = Object.entries(services).filter(([, service]) => service.networks === undefined);

  expect(Object.keys(services).filter((name) => networksOf(name).some(open))).toEqual(['nginx']);
  expect(unconnected.map(([name, service]) => [name, service.network_mode])).toEqual([[RUNS_AS_ROOT, 'none']]);
  for (const name of [...nodes, 'loadtest']) expect(networksOf(name)).toEqual(['lab']);
  expect(networks['lab']).toMatchObject({
    ...{ internal: true, driver_opts: { 'com.docker.network.bridge.inhibit_ipv4': 'true' } },
  });
});

test('images: each is pinned to an exact version', () => {
  const ofCompose = Object.values(services).flatMap(({ image }) => image ?? []);
  const ofDockerfile = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));

  expect(new Set([...ofCompose, ...ofDockerfile]).size).toBe(5);
  for (const image of [...ofCompose, ...ofDockerfile])
    expect(image).toMatch(/^((redis|nginx|node):\d+\.\d+\.\d+-alpine|(zookeeper|mariadb):\d+\.\d+\.\d+)$/);
});

test('servers: each writes to memory only, in the place of every volume of its image', () => {
  const { redis, zookeeper, mysql } = services;
  const conf = zookeeper?.environment?.['ZOO_CONF_DIR'];
  const [example = ''] = /(?<=MYSQL_URL=)mysql:\S+/.exec(composeText) ?? [];
  const { username, password, hostname, pathname } = new URL(inventorySettings.shape.MYSQL_URL.parse(example) ?? '');

  for (const server of [redis, zookeeper, mysql]) expect(server?.volumes).toBeUndefined();
  expect([redis?.command, redis?.tmpfs]).toEqual([['redis-server', '--save', '', '--appendonly', 'no'], ['/data']]);
  expect(zookeeper?.tmpfs).toEqual(['/data:mode=1777', '/datalog:mode=1777', '/logs:mode=1777', '/tmp']);
  expect(zookeeper?.tmpfs).toContain(`${conf}:mode=1777`);
  expect(zookeeper?.command?.at(-1)).toBe(`${conf}/zoo.cfg`);
  // It keeps the leases exactly.
  expect(Number(zookeeper?.environment?.['ZOO_TICK_TIME'])).toBeLessThanOrEqual(100);
  expect(mysql?.tmpfs).toEqual(['/var/lib/mysql:mode=1777', '/run/mysqld:mode=1777', '/tmp']);
  // The user of the example may use the database of the example.
  expect([hostname, pathname]).toEqual(['mysql', `/${mysql?.environment?.['MARIADB_DATABASE']}`]);
  expect([username, password]).toEqual(['MARIADB_USER', 'MARIADB_PASSWORD'].map((name) => mysql?.environment?.[name]));
});

test('load test: it aims at nginx and both lab listeners, at the stage of LOCK_VERSION, and leaves reports that all may delete', () => {
  const { volumes, entrypoint } = serviceNamed('loadtest');
  const [umask, program = ''] = scriptOf('loadtest').split(' && exec ');
  const command = program.split(' ');

  expect([umask, ...command.slice(0, 4)]).toEqual([
    'umask 0',
    'node',
    '--import',
    'tsx',
    'loadtest/commands/replay.ts',
  ]);
  expect(optionOf(command, '--url')).toBe(`http://nginx:${environmentOf('nginx')['NGINX_LISTEN']}`);
  expect(optionOf(command, '--lab')).toBe('http://node-1:7778,http://node-2:8889');
  for (const name of nodes) expect(environmentOf(name)['LAB_HOST']).toBe('0.0.0.0');
  expect(volumes).toEqual(['./reports:/app/reports']);
  expect(join(lastOf('loadtest', 'WORKDIR'), optionOf(command, '--reports'))).toBe('/app/reports');
  expect(read('.gitignore').split('\n')).toContain('reports/');
  // The caller's options come after the stack's own.
  expect([command.at(-1), entrypoint?.length]).toEqual(['"$@"', 4]);
  expect(environmentOf('loadtest', { LOCK_VERSION: '4' })).toEqual({ LOCK_VERSION: '4' });
  expect(environmentOf('loadtest')).toEqual({ LOCK_VERSION: '' });
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

test.skipIf(!hasCompose)('docker compose: it accepts the file', () => {
  const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], {
    cwd: projectDir,
    encoding: 'utf8',
  });

  expect([status, stderr]).toEqual([0, '']);
});
