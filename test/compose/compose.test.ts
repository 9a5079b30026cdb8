import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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

const nodes = ['node-1', 'node-2'];
const longRunning = ['redis', 'nginx', ...nodes];
const oneShot = ['seed', 'reports-folder', 'loadtest'];
/** What a strategy beyond stage 8 needs, and the setting that starts it. */
const backends = { zookeeper: 'ZOOKEEPER_URL', mysql: 'MYSQL_URL' };
/** A container that may do more than the others, and why. */
const runsAsRoot: Record<string, string> = {
  'reports-folder': 'Docker makes a missing ./reports as root, and only its owner may open it to the load test',
};
const template = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');
const variablesOfTemplate = [...new Set([...template.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))].toSorted();

test('services: they are the stack, its one-shot jobs, and nothing more', () => {
  expect(Object.keys(services).toSorted()).toEqual([...longRunning, ...oneShot, ...Object.keys(backends)].toSorted());
});

describe('settings', () => {
  test.each(nodes)('%s: it is given every setting of the service, and no other variable', (name) => {
    const given = Object.keys(environmentOf(name));
    // They name files of the host, which no container can load.
    const ofHost = ['LOCK_MODULES', 'ORDER_MODULE'];
    const settings = Object.keys(inventorySettings.shape).filter((setting) => !ofHost.includes(setting));

    expect(given.toSorted()).toEqual(settings.toSorted());
  });

  test.each(nodes)('%s: what the caller does not set has the default of the code', (name) => {
    // An empty variable counts as absent.
    const given = Object.fromEntries(Object.entries(environmentOf(name)).filter(([, value]) => value !== ''));
    const { PORT, NODE_NAME, LAB_PORT, LAB_HOST, LAB_ALLOWED_HOSTS, REDIS_URL, ...settings } =
      inventorySettings.parse(given);

    expect(inventorySettings.parse({})).toMatchObject(settings);
  });

  test.each(nodes)("%s: the caller's values reach it", (name) => {
    const caller = {
      LOCK_VERSION: '4-ttl',
      LEASE_MS: '500',
      RETRY_DELAY_MS: '7',
      WAIT_TIMEOUT_MS: '900',
      ORDERS: 'off',
      UNIT_PRICE: '250',
      ORDER_TTL_MS: '60000',
      ORDER_CLEANUP_CRON: '0/10 * * * * ?',
      JOB_LOCK: 'in-process',
      JOB_LEASE_MS: '5000',
      JOB_MIN_HOLD_MS: '400',
      PAYMENTS: 'on',
      PAYMENT_MIN_IDLE_MS: '4000',
      REFUND: 'look-first',
      IDEMPOTENCY: 'lock',
      IDEMPOTENCY_REQUIRED: 'on',
      IDEMPOTENCY_KEEP_MS: '60000',
      LOG_LEVEL: 'debug',
      REDLOCK_URLS: 'redis://a:1,redis://b:1,redis://c:1',
      MYSQL_URL: 'mysql://a:1/lockstep',
      ZOOKEEPER_URL: 'zookeeper:2181',
    };

    expect(environmentOf(name, caller)).toMatchObject(caller);
  });

  test('variables: what the file takes from the caller is explained in .env.example, with the same default', () => {
    const example = readFileSync(join(projectDir, '.env.example'), 'utf8');
    // Every line of it is a comment until someone takes the # away.
    const explained = dotenv.parse(example.replace(/^# (?=[A-Z0-9_]+=)/gm, ''));
    const taken = [...composeText.matchAll(/\$\{(\w+):-([^}]+)\}/g)].map(([, name, other]) => [name, other]);

    expect(explained).toMatchObject(Object.fromEntries(taken));
    expect([...new Set(taken.map(([name]) => name))].toSorted()).toEqual(
      [
        'BUCKETS',
        'IDEMPOTENCY_KEEP_MS',
        'IDEMPOTENCY_REQUIRED',
        'JOB_LEASE_MS',
        'JOB_LOCK',
        'JOB_MIN_HOLD_MS',
        'LAB_NETWORK',
        'LEASE_MS',
        'LOCK_VERSION',
        'LOG_LEVEL',
        'NGINX_PORT',
        'ORDERS',
        'ORDER_TTL_MS',
        'PAYMENTS',
        'PAYMENT_MIN_IDLE_MS',
        'REFUND',
        'RETRY_DELAY_MS',
        'UNIT_PRICE',
        'WAIT_TIMEOUT_MS',
      ].toSorted(),
    );
  });

  test('nodes: the two differ in their name, their address and their ports only', () => {
    const [first, second] = nodes.map((name) => {
      const { environment, networks: _own, ...service } = serviceNamed(name);
      const { NODE_NAME, PORT, LAB_PORT, ...shared } = environment ?? {};
      return { own: { NODE_NAME, PORT, LAB_PORT }, rest: { ...service, shared } };
    });

    expect(first?.rest).toEqual(second?.rest);
    expect(first?.own).toEqual({ NODE_NAME: 'node-1', PORT: 7777, LAB_PORT: 7778 });
    expect(second?.own).toEqual({ NODE_NAME: 'node-2', PORT: 8888, LAB_PORT: 8889 });
  });

  test('redis: the nodes look for it where it is', () => {
    for (const name of nodes) expect(environmentOf(name)['REDIS_URL']).toBe('redis://redis:6379');
  });
});

describe('nginx', () => {
  const { command, environment = {}, volumes = [], tmpfs = [], ports, healthcheck } = serviceNamed('nginx');

  test('template: compose fills in every variable, and gives no other', () => {
    const { NGINX_ENVSUBST_OUTPUT_DIR, ...filledIn } = environment;

    expect(Object.keys(filledIn).toSorted()).toEqual(variablesOfTemplate);
  });

  test('template: the local stack fills in the same variables', () => {
    const script = readFileSync(join(projectDir, 'scripts/stack/nginx.ts'), 'utf8');
    const filledIn = [...script.matchAll(/^ +([A-Z0-9_]+): /gm)].map(([, name]) => name);

    expect(filledIn.toSorted()).toEqual(variablesOfTemplate);
  });

  test('template: it is mounted read-only where the image looks, and what the image writes is what nginx reads', () => {
    const [source, target = '', mode] = (volumes[0] ?? '').split(':');

    expect([source, mode, volumes.length]).toEqual(['./nginx/nginx.conf.template', 'ro', 1]);
    expect(target).toMatch(/^\/etc\/nginx\/templates\/[^/]+\.template$/);
    const written = join(String(environment['NGINX_ENVSUBST_OUTPUT_DIR']), basename(target, '.template'));
    expect(command?.slice(0, 3)).toEqual(['nginx', '-c', written]);
    expect(optionOf(command, '-g')).toBe('daemon off;');
  });

  test('folders: nginx writes only to memory', () => {
    const written = fillIn(template, environmentOf('nginx')).matchAll(/^ *(?:pid|\w+_temp_path) ([^;]+);/gm);
    const folders = [...written].map(([, path = '']) => path);

    expect(folders.length).toBeGreaterThan(2);
    expect(folders.filter((path) => !tmpfs.some((dir) => path.startsWith(`${dir}/`)))).toEqual([]);
    expect(tmpfs).toContain(environment['NGINX_ENVSUBST_OUTPUT_DIR']);
  });

  const networkSettings: Record<string, string>[] = [{}, { LAB_NETWORK: '10.1.2' }];

  test.each(networkSettings)('upstreams: they are the two nodes, by addresses that stay, with %o', (env) => {
    const addresses = nodes.map((name) => `${addressOf(name, env)}:${environmentOf(name)['PORT']}`);
    const { NODE_1, NODE_2 } = environmentOf('nginx', env);

    expect([NODE_1, NODE_2]).toEqual(addresses);
  });

  test.each(networkSettings)('addresses: no other container is given one of them, with %o', (env) => {
    const [prefix] = addressOf('node-1', env).split(/\d+$/);
    const [config] = networks['lab']?.ipam?.config ?? [];

    expect(nodes.map((name) => addressOf(name, env))).toEqual([`${prefix}11`, `${prefix}12`]);
    expect(interpolate(config?.subnet ?? '', env)).toBe(`${prefix}0/24`);
    expect(interpolate(config?.ip_range ?? '', env)).toBe(`${prefix}128/25`);
  });

  test('lab listeners: nginx knows neither of them', () => {
    const config = fillIn(template, environmentOf('nginx'));

    for (const name of nodes) expect(config).not.toContain(environmentOf(name)['LAB_PORT']);
  });

  test('port: the one that is published is the one that nginx listens on and that its health check asks', () => {
    const listen = environment['NGINX_LISTEN'];

    expect(ports).toEqual([`127.0.0.1:\${NGINX_PORT:-8080}:${listen}`]);
    expect(healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${listen}/nginx-healthz`);
    expect(template).toContain('location = /nginx-healthz {');
  });
});

describe('safety', () => {
  test('ports: only nginx publishes one, and to this machine alone', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));

    expect(published.map(([name, port = '']) => [name, interpolate(port)])).toEqual([['nginx', '127.0.0.1:8080:8080']]);
  });

  test('networks: only nginx has one that leads out', () => {
    const open = (name: string) => networks[name]?.internal !== true;
    const exposed = Object.keys(services).filter((name) => networksOf(name).some(open));
    const unconnected = Object.entries(services).filter(([, service]) => service.networks === undefined);

    expect(exposed).toEqual(['nginx']);
    expect(unconnected.map(([name, service]) => [name, service.network_mode])).toEqual([['reports-folder', 'none']]);
  });

  test('networks: the host has no address in the one that leads nowhere', () => {
    expect(networks['lab']).toMatchObject({
      internal: true,
      driver_opts: { 'com.docker.network.bridge.inhibit_ipv4': 'true' },
    });
  });

  test('images: each is pinned to an exact version', () => {
    const ofCompose = Object.values(services).flatMap(({ image }) => image ?? []);
    const ofDockerfile = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));

    expect([...new Set([...ofCompose, ...ofDockerfile])]).toHaveLength(5);
    for (const image of [...ofCompose, ...ofDockerfile])
      expect(image).toMatch(/^((redis|nginx|node):\d+\.\d+\.\d+-alpine|(zookeeper|mariadb):\d+\.\d+\.\d+)$/);
  });

  test.each(Object.entries(services))('%s: it cannot write to its image nor gain rights', (name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges=true']);
    expect(service.cap_add ?? []).toEqual(name in runsAsRoot ? ['FOWNER'] : []);
  });

  test.each(Object.entries(services))(
    '%s: it runs without root, unless there is a reason',
    (name, { user = 'root' }) => {
      expect(/^(root|0)(:|$)/.test(user)).toBe(name in runsAsRoot);
    },
  );

  test('zookeeper: it writes to memory only, in the place of every volume of its image, and keeps the leases exactly', () => {
    const { command, tmpfs = [], volumes, environment = {} } = serviceNamed('zookeeper');

    expect(tmpfs).toEqual(['/data:mode=1777', '/datalog:mode=1777', '/logs:mode=1777', '/tmp']);
    expect(volumes).toBeUndefined();
    expect(command?.at(-1)).toBe(`${environment['ZOO_CONF_DIR']}/zoo.cfg`);
    expect(tmpfs).toContain(`${environment['ZOO_CONF_DIR']}:mode=1777`);
    expect(Number(environment['ZOO_TICK_TIME'])).toBeLessThanOrEqual(100);
  });

  test('mysql: it writes to memory only, and the user of the example may use the database of the example', () => {
    const { tmpfs, volumes, environment } = serviceNamed('mysql');
    const [example = ''] = /(?<=MYSQL_URL=)mysql:\S+/.exec(composeText) ?? [];
    const { username, password, hostname, pathname } = new URL(inventorySettings.shape.MYSQL_URL.parse(example) ?? '');

    expect([tmpfs, volumes]).toEqual([['/var/lib/mysql:mode=1777', '/run/mysqld:mode=1777', '/tmp'], undefined]);
    expect([hostname, pathname]).toEqual(['mysql', `/${environment?.['MARIADB_DATABASE']}`]);
    expect([username, password]).toEqual([environment?.['MARIADB_USER'], environment?.['MARIADB_PASSWORD']]);
  });

  test('redis: nothing is saved, and no volume is made', () => {
    const { command, tmpfs, volumes } = serviceNamed('redis');

    expect(command).toEqual(['redis-server', '--save', '', '--appendonly', 'no']);
    expect([tmpfs, volumes]).toEqual([['/data'], undefined]);
  });
});

describe('start and stop', () => {
  test.each([...longRunning, ...Object.keys(backends)])('%s: it has a health check', (name) => {
    expect(serviceNamed(name).healthcheck?.test[0]).toBe('CMD');
  });

  test('order: each service waits until what it needs is healthy or done', () => {
    const waitsFor = Object.entries(services).map(([name, { depends_on = {} }]) => [
      name,
      Object.fromEntries(Object.entries(depends_on).map(([other, { condition }]) => [other, condition])),
    ]);

    const node = {
      redis: 'service_healthy',
      seed: 'service_completed_successfully',
      zookeeper: 'service_healthy',
      mysql: 'service_healthy',
    };
    expect(Object.fromEntries(waitsFor)).toEqual({
      redis: {},
      seed: { redis: 'service_healthy' },
      'node-1': node,
      'node-2': node,
      nginx: { 'node-1': 'service_healthy', 'node-2': 'service_healthy' },
      'reports-folder': {},
      zookeeper: {},
      mysql: {},
      // Not on the stack, or `run` would make the nodes anew whenever its settings differ from those of `up`.
      loadtest: { 'reports-folder': 'service_completed_successfully' },
    });
  });

  test('order: the seed comes again after Redis, which starts empty', () => {
    expect(serviceNamed('seed').depends_on?.['redis']?.restart).toBe(true);
  });

  test.each(Object.entries(backends))('%s: %s starts it, and without that there is none', (name, setting) => {
    expect([countOf(name), countOf(name, { [setting]: 'somewhere' })]).toEqual([0, 1]);
  });

  test('profiles: there are none, because `down` leaves what is in one that it is not given', () => {
    expect(Object.values(services).flatMap(({ profiles = [] }) => profiles)).toEqual([]);
  });

  test('crashes: nodes and nginx come back; what has lost its data does not', () => {
    const comeBack = Object.entries(services).flatMap(([name, { restart }]) => (restart ? [[name, restart]] : []));

    expect(comeBack).toEqual([...nodes, 'nginx'].map((name) => [name, 'on-failure:5']));
  });

  test.each([...nodes, 'nginx'])('%s: it is given more time to stop than a sale may wait', (name) => {
    const seconds = Number(/^(\d+)s$/.exec(serviceNamed(name).stop_grace_period ?? '')?.[1]);

    // A stopping node takes up to 3 s more: for its locks, and for its last answers.
    expect(seconds * 1000).toBeGreaterThan(inventorySettings.parse({}).WAIT_TIMEOUT_MS + 3000);
  });
});

describe('load test', () => {
  const { volumes, environment } = serviceNamed('loadtest');
  const [umask, program = ''] = scriptOf('loadtest').split(' && exec ');
  const command = program.split(' ');

  test('command: it aims the harness at nginx and at the lab listeners of both nodes', () => {
    expect(command.slice(0, 4)).toEqual(['node', '--import', 'tsx', 'loadtest/commands/replay.ts']);
    expect(optionOf(command, '--url')).toBe(`http://nginx:${environmentOf('nginx')['NGINX_LISTEN']}`);
    expect(optionOf(command, '--lab').split(',')).toEqual(
      nodes.map((name) => `http://${name}:${environmentOf(name)['LAB_PORT']}`),
    );
    expect(existsSync(join(projectDir, 'loadtest/commands/replay.ts'))).toBe(true);
  });

  test('lab listeners: they listen where the load test reaches them, in a network that leads nowhere else', () => {
    for (const name of nodes) {
      expect(environmentOf(name)['LAB_HOST']).toBe('0.0.0.0');
      expect(networksOf(name)).toEqual(['lab']);
    }
    expect(networksOf('loadtest')).toEqual(['lab']);
  });

  test('reports: they come out in ./reports, where git does not look', () => {
    const ignored = readFileSync(join(projectDir, '.gitignore'), 'utf8').split('\n');

    expect(volumes).toEqual(['./reports:/app/reports']);
    expect(join(lastOf('loadtest', 'WORKDIR'), optionOf(command, '--reports'))).toBe('/app/reports');
    expect(ignored).toContain('reports/');
  });

  test('reports: everyone may delete them', () => {
    expect(umask).toBe('umask 0');
  });

  test("options: those of the caller reach the harness, after the stack's own", () => {
    expect(command.at(-1)).toBe('"$@"');
    expect(serviceNamed('loadtest').entrypoint).toHaveLength(4);
  });

  test('start: `docker compose up` starts none', () => {
    expect(countOf('loadtest')).toBe(0);
  });

  test('stage: it replays the one that LOCK_VERSION names, else all', () => {
    expect(Object.keys(environment ?? {})).toEqual(['LOCK_VERSION']);
    expect(environmentOf('loadtest')).toEqual({ LOCK_VERSION: '' });
    expect(environmentOf('loadtest', { LOCK_VERSION: '4' })).toEqual({ LOCK_VERSION: '4' });
  });
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

test.skipIf(!hasCompose)('docker compose: it accepts the file', () => {
  const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], {
    cwd: projectDir,
    encoding: 'utf8',
  });

  expect([status, stderr]).toEqual([0, '']);
});
