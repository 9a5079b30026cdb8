import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dotenv from 'dotenv';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../services/inventory/sale/metrics.ts';
import { stopLimitMs } from '../../services/inventory/settings/limits.ts';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { fillIn } from '../../stack/nginx.ts';
import { projectDir } from '../../stack/parts.ts';
import {
  composeText,
  environmentOf,
  interpolate,
  networks,
  networksOf,
  type Service,
  serviceNamed,
  services,
} from './compose-file.ts';
import { copiedInto, lastOf } from './dockerfile.ts';

const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');
/** Docker makes a missing ./reports as root, and only its owner may open it to the load test. */
const RUNS_AS_ROOT = 'reports-folder';
const template = read('nginx/nginx.conf.template');
/** The names of the services that `isMeant` holds for. */
const namesOf = (isMeant: (service: Service) => boolean) =>
  Object.keys(services).filter((name) => isMeant(serviceNamed(name)));

test('services: none can write to its image nor gain rights, and one alone is root', () => {
  for (const [name, service] of Object.entries(services)) {
    const { read_only, cap_drop, security_opt, cap_add = [], user = 'root' } = service;
    const isRoot = /^(root|0)(:|$)/.test(user);
    expect({ name, read_only, cap_drop, security_opt }).toEqual({
      ...{ name, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges=true'] },
    });
    expect([name, isRoot, cap_add]).toEqual([name, ...(name === RUNS_AS_ROOT ? [true, ['FOWNER']] : [false, []])]);
  }
});

test('services: each has an init and limits of memory, CPUs and processes, and Redis knows its own', () => {
  const megabytes = (size: unknown) => Number(/^(\d+)mb?$/.exec(String(size))?.[1]);
  const { command = [], mem_limit } = serviceNamed('redis');
  const maxmemory = megabytes(command[command.indexOf('--maxmemory') + 1]);

  expect(namesOf(({ init }) => init !== true)).toEqual([]);
  expect(namesOf((service) => !(megabytes(service['mem_limit']) <= 1_024))).toEqual([]);
  expect(namesOf(({ cpus }) => !(Number(cpus) > 0 && Number(cpus) <= 2))).toEqual([]);
  expect(namesOf(({ pids_limit }) => !(Number(pids_limit) > 0))).toEqual([]);
  expect(maxmemory / megabytes(mem_limit)).toBe(0.75);
});

test('lab listeners: they listen in a network of their own, where the load test alone meets them', () => {
  const nodes = ['node-1', 'node-2'];
  const addresses = nodes.map((name) => {
    const { lab } = serviceNamed(name).networks as Record<string, { ipv4_address: string; aliases?: string[] }>;
    return { address: lab?.ipv4_address, names: lab?.aliases };
  });
  const [, urls = ''] = / --lab (\S+)/.exec(serviceNamed('loadtest').entrypoint?.join(' ') ?? '') ?? [];

  expect(namesOf((service) => networksOf(service).includes('lab'))).toEqual([...nodes, 'loadtest']);
  expect(nodes.map((name) => serviceNamed(name).environment?.['LAB_HOST'])).toEqual(
    addresses.map(({ address }) => address),
  );
  expect(urls.split(',').map((url) => new URL(url).hostname)).toEqual(addresses.flatMap(({ names }) => names));
  expect(environmentOf('node-1')['LAB_ALLOWED_HOSTS']).toBe(addresses.flatMap(({ names }) => names).join(','));
});

test('Grafana: nobody can log in, and of the other containers it meets Prometheus alone', () => {
  const servicesIn = (network: string) => namesOf((service) => networksOf(service).includes(network));

  expect(environmentOf('grafana')).toMatchObject({
    GF_AUTH_DISABLE_LOGIN_FORM: 'true',
    GF_AUTH_BASIC_ENABLED: 'false',
    GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
  });
  expect(networksOf(serviceNamed('grafana'))).toEqual(['metrics', 'door']);
  expect(servicesIn('metrics')).toEqual(['prometheus', 'grafana']);
  expect(servicesIn('door')).toEqual(['nginx', 'grafana']);
});

test.each([
  { name: 'node-1', ports: [7777, 7778] },
  { name: 'node-2', ports: [8888, 8889] },
])('$name: it is given every setting, by its default, differs in name and ports alone, and stops in time', (node) => {
  // They name files of the host, which no container can load.
  const settings = Object.keys(inventorySettings.shape).filter((name) => name !== 'LOCK_MODULES');
  const own = ['PORT', 'HOST', 'NODE_NAME', 'LAB_PORT', 'LAB_HOST', 'LAB_ALLOWED_HOSTS', 'REDIS_URL', 'BUCKETS'];
  const caller = Object.fromEntries(
    settings.filter((each) => !own.includes(each)).map((each) => [each, `own ${each}`]),
  );
  const given = Object.entries(environmentOf(node.name)).filter(([, value]) => value !== '');
  const parsed = Object.entries(inventorySettings.parse(Object.fromEntries(given)));
  const { environment: all = {}, networks: _networks, ...service } = serviceNamed(node.name);
  const { NODE_NAME, PORT, LAB_HOST: _address, LAB_PORT, ...shared } = all;
  const { environment: others, networks: _others, ...other } = serviceNamed('node-1');
  const { WAIT_TIMEOUT_MS, DRAIN_MS } = inventorySettings.parse({});
  const enough = stopLimitMs(WAIT_TIMEOUT_MS, DRAIN_MS) / 1_000;

  expect(Object.keys(all).toSorted()).toEqual(settings.toSorted());
  expect(environmentOf(node.name, caller)).toMatchObject(caller);
  expect(inventorySettings.parse({})).toMatchObject(Object.fromEntries(parsed.filter(([each]) => !own.includes(each))));
  expect([NODE_NAME, PORT, LAB_PORT]).toEqual([node.name, ...node.ports]);
  expect([service, others]).toEqual([other, expect.objectContaining(shared)]);
  const grace = String(service['stop_grace_period']);
  expect(Number.parseInt(interpolate(grace), 10)).toBeGreaterThan(enough);
  expect(interpolate(grace, { STOP_GRACE_PERIOD: '1300s' })).toBe('1300s');
  // nginx waits for the same sales.
  expect(serviceNamed('nginx')['stop_grace_period']).toBe(grace);
});

test('variables: what the file takes from the caller is explained in .env.example, with the same default', () => {
  // Every line of it is a comment until someone takes the # away.
  const explained = dotenv.parse(read('.env.example').replace(/^# (?=[A-Z0-9_]+=)/gm, ''));
  const taken = [...composeText.matchAll(/\$\{(\w+):-([^}]+)\}/g)].map(([, name, other]) => [name, other]);

  expect(taken.map(([name]) => name)).toEqual(expect.arrayContaining(['LOCK_VERSION', 'NGINX_PORT', 'LAB_NETWORK']));
  expect(explained).toMatchObject(Object.fromEntries(taken));
});

describe('nginx', () => {
  const { environment = {}, ports, healthcheck } = serviceNamed('nginx');

  test('compose and the local stack fill in every variable of the template, and give no other', () => {
    const variables = [...new Set([...template.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))].toSorted();
    const { NGINX_ENVSUBST_OUTPUT_DIR: _folder, ...filledIn } = environment;
    const local = [...read('stack/nginx.ts').matchAll(/^ +([A-Z0-9_]+): /gm)].map(([, name]) => name);

    expect([Object.keys(filledIn).toSorted(), local.toSorted()]).toEqual([variables, variables]);
  });

  test.each<{ env: Record<string, string>; prefix: string }>([
    { env: {}, prefix: '10.203.113.' },
    { env: { LAB_NETWORK: '10.1.2' }, prefix: '10.1.2.' },
  ])('with %o its upstreams are the two nodes by their fixed addresses, and no lab listener', ({ env, prefix }) => {
    const { NODE_1, NODE_2 } = environmentOf('nginx', env);
    const addresses = ['node-1', 'node-2'].map((name) => {
      const { shop } = serviceNamed(name).networks as Record<string, { ipv4_address: string }>;
      return interpolate(shop?.ipv4_address ?? '', env);
    });

    expect([NODE_1, NODE_2]).toEqual([`${addresses[0]}:7777`, `${addresses[1]}:8888`]);
    expect(addresses).toEqual([`${prefix}11`, `${prefix}12`]);
    expect(fillIn(template, environmentOf('nginx', env))).not.toMatch(/7778|8889/);
  });

  test('it publishes a port to this machine and has a network that leads out, and where metrics are asked for Grafana, too', () => {
    const listen = environment['NGINX_LISTEN'];
    const leadsOut = (name: string) => networks[name]?.internal !== true;

    expect(namesOf(({ ports: given }) => given !== undefined)).toEqual(['nginx', 'grafana']);
    expect(serviceNamed('grafana').ports).toEqual([`127.0.0.1:\${GRAFANA_PORT:-3000}:3000`]);
    expect(namesOf(({ profiles }) => profiles !== undefined)).toEqual(['judge', 'prometheus', 'grafana']);
    expect(ports).toEqual([`127.0.0.1:\${NGINX_PORT:-8080}:${listen}`]);
    expect(healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${listen}/nginx-healthz`);
    expect(namesOf((service) => networksOf(service).some(leadsOut))).toEqual(['nginx', 'grafana']);
    expect(namesOf(({ networks: given }) => given === undefined)).toEqual([RUNS_AS_ROOT, 'judge']);
    for (const name of [RUNS_AS_ROOT, 'judge']) expect(serviceNamed(name)['network_mode']).toBe('none');
    // The host has no address in the others.
    const inside = Object.entries(networks).filter(([name]) => !leadsOut(name));
    expect(inside.map(([name]) => name)).toEqual(['shop', 'lab', 'metrics']);
    for (const [, { driver_opts }] of inside)
      expect(driver_opts).toEqual({ 'com.docker.network.bridge.inhibit_ipv4': 'true' });
  });
});

test('metrics: Prometheus asks both nodes, every volume is a file, and the dashboard asks for what a node has', async () => {
  const known = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name);
  const asked = [...read('metrics/dashboard.json').matchAll(/\b(?:lockstep|nodejs|process)_\w+/g)].map(
    ([name]) => name,
  );
  const files = ['prometheus', 'grafana'].flatMap((name) => serviceNamed(name).volumes ?? []);

  for (const node of ['node-1', 'node-2'])
    expect(read('metrics/prometheus.yml')).toContain(`"${node}:${environmentOf(node)['PORT']}"`);
  for (const file of files) expect(existsSync(join(projectDir, file.split(':')[0] ?? '')), file).toBe(true);
  expect(asked.filter((name) => !known.includes(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([]);
  expect(asked).toEqual(expect.arrayContaining(known.filter((name) => name.startsWith('lockstep_orders'))));
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

test.skipIf(!hasCompose)('docker compose: it accepts the file', () => {
  const options = { cwd: projectDir, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('docker', ['compose', 'config', '--quiet'], options);

  expect([status, stderr]).toEqual([0, '']);
});

describe('Dockerfile', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const mains = { inventory: 'services/inventory/main.ts', loadtest: 'scripts/start.ts', judge: 'scripts/judge.ts' };

  /** The files that a program imports, and the packages. */
  async function needsOf(main: string) {
    const { metafile } = await build({
      ...{ entryPoints: [main], absWorkingDir: projectDir, bundle: true, write: false, metafile: true },
      ...{ platform: 'node', format: 'esm', packages: 'external', target: 'node20' },
    });
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external),
    );
    const packages = imported.map(({ path }) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
    return { files: Object.keys(metafile.inputs), packages: packages.filter((name) => name in dependencies) };
  }

  test.each(Object.entries(mains))(
    'image %s: it has all that its program imports, and runs it as the user node',
    async (target, main) => {
      const { files } = await needsOf(main);
      const copied = copiedInto(target);

      expect(files.filter((file) => !copied.some((path) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
      expect(files.length).toBeGreaterThan(10);
      const command = target === 'judge' ? ['scripts/lockstep.mjs', 'judge', '--help'] : ['--import', 'tsx', main];
      expect(JSON.parse(lastOf(target, 'CMD'))).toEqual(['node', ...command]);
      expect(lastOf(target, 'USER')).toBe('node');
      const builds = Object.values(services).map(({ build }) => build?.target);
      expect(builds).toContain(target);
    },
  );

  test('packages: those of the lock file without install scripts, and a node has none that only the load test needs', async () => {
    const [uninstall = '', ...packages] = lastOf('node-packages', 'RUN')
      .split(/ (?!-)/)
      .slice(1);
    // tsx runs the node, and needs esbuild.
    const needed = [...(await needsOf(mains.inventory)).packages, 'tsx', 'esbuild'];

    expect(lastOf('packages', 'RUN')).toMatch(/^npm ci --omit=dev --ignore-scripts( |$)/);
    expect(uninstall).toMatch(/^uninstall --omit=dev --ignore-scripts( |$)/);
    expect(packages).toEqual(Object.keys(dependencies).filter((name) => !needed.includes(name)));
  });

  test('.dockerignore: what the Dockerfile copies gets through, and nothing else does', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const copied = new Set([...copiedInto('packages'), ...copiedInto('judge')]);

    // The packages of this machine are inside a folder that gets through.
    expect(lines.filter((line) => !line.startsWith('!'))).toEqual(['*', 'loadtest/peers/node_modules']);
    expect(lines.flatMap((line) => (line.startsWith('!') ? line.slice(1) : [])).toSorted()).toEqual(
      [...copied].toSorted(),
    );
    for (const path of copied) expect(existsSync(join(projectDir, path)), path).toBe(true);
  });
});
