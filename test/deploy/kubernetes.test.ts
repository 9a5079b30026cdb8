import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as apps from 'kubernetes-models/apps/v1';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { stopLimitMs } from '../../services/inventory/settings/limits.ts';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { projectDir } from '../../stack/parts.ts';
import { serviceNamed } from '../compose/compose-file.ts';
import { stages } from '../compose/dockerfile.ts';
import { readText } from '../lesson/project-files.ts';

const root = 'deploy/kubernetes';
const folders = ['base', 'load', 'mysql'];
const schemas: Record<string, object> = {
  'apps/v1': apps,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  v1: core,
};

interface Container {
  name: string;
  image: string;
  env?: { name: string }[];
  resources: { requests: object; limits: { memory?: string } };
  securityContext: object;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { template?: { spec: PodSpec } };
}

interface PodSpec {
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  containers: Container[];
}

interface Kustomization {
  resources: string[];
  images?: { name: string; newTag: string }[];
  configMapGenerator?: { name: string; literals?: string[]; files?: string[] }[];
}

const manifestsIn = (text: string) => parseAllDocuments(text).map((each) => each.toJS() as Manifest);
const files = folders.flatMap((folder) =>
  readdirSync(join(projectDir, root, folder))
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .map((file) => `${root}/${folder}/${file}`),
);
const pods = files
  .flatMap((file) => manifestsIn(readText(file)))
  .flatMap(({ metadata, spec }) => (spec?.template ? [[metadata.name, spec.template.spec] as const] : []));
const kustomizationOf = (folder: string) => parse(readText(`${root}/${folder}/kustomization.yaml`)) as Kustomization;

/** Throws with what its published schema says of it. */
function validate(manifest: Manifest) {
  const kinds = schemas[manifest.apiVersion] as Record<string, new (data: object) => { validate(): void }> | undefined;
  const Kind = kinds?.[manifest.kind];
  if (Kind === undefined) throw new Error(`there is no ${manifest.kind} in ${manifest.apiVersion}`);
  new Kind(manifest).validate();
}

test.each(files)('%s: every object in it is as its schema says', (file) => {
  for (const manifest of manifestsIn(readText(file))) expect(() => validate(manifest)).not.toThrow();
});

test('the schema refuses what a cluster would', () => {
  const [deployment] = manifestsIn(readText(`${root}/base/inventory.yaml`)) as [Manifest];

  expect(() => validate({ ...deployment, spec: { ...deployment.spec, replicas: '3' } } as Manifest)).toThrow(
    'replicas',
  );
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

test.skipIf(!hasKubectl).each(folders)('kubectl kustomize %s: it is one whole, and as its schemas say', (folder) => {
  const options = { cwd: projectDir, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', `${root}/${folder}`], options);

  expect([status, stderr]).toEqual([0, '']);
  for (const manifest of manifestsIn(stdout)) expect(() => validate(manifest)).not.toThrow();
});

test('pods: none is root, writes to its image or takes what it likes', () => {
  expect(pods.map(([name]) => name).toSorted()).toEqual(['inventory', 'load', 'mysql', 'redis', 'seed']);
  for (const [name, { securityContext, containers }] of pods) {
    expect(securityContext, name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { securityContext, resources } of containers) {
      expect(securityContext, name).toEqual({
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      });
      expect(Object.keys(resources.requests), name).toEqual(['cpu', 'memory']);
      expect(resources.limits.memory, name).toBeDefined();
    }
  }
});

test('images: those of the compose file, and those of the Dockerfile under the version of the package', () => {
  const published = ['redis', 'mysql'].map((name) => serviceNamed(name).image);
  const own = stages.map(({ name }) => `lockstep-${name}`);
  const { version } = JSON.parse(readText('package.json'));
  const tags = folders.flatMap((folder) => kustomizationOf(folder).images ?? []);

  for (const [, { containers }] of pods)
    for (const { image } of containers) expect([...published, ...own]).toContain(image);
  for (const { name, newTag } of tags) expect([own.includes(name), newTag]).toEqual([true, version]);
});

test('settings: each is one of the service, with a value that it takes, and a copy has time to end its sales', () => {
  const literals = ['base', 'mysql'].flatMap(
    (folder) => kustomizationOf(folder).configMapGenerator?.[0]?.literals ?? [],
  );
  const [, inventory] = pods.find(([name]) => name === 'inventory') ?? [];
  const given = literals.map((each) => /^(\w+)=(.*)$/.exec(each)?.slice(1) as [string, string]);
  const own = inventory?.containers[0]?.env?.map(({ name }) => name) ?? [];
  const { WAIT_TIMEOUT_MS, DRAIN_MS } = inventorySettings.parse(Object.fromEntries(given));

  expect([...given.map(([name]) => name), ...own].filter((name) => !(name in inventorySettings.shape))).toEqual([]);
  expect(stopLimitMs(WAIT_TIMEOUT_MS, DRAIN_MS) < Number(inventory?.terminationGracePeriodSeconds) * 1_000).toBe(true);
});

test.each([
  ['sells each unit once', 1, 0],
  ['sells each unit twice', 2, 10],
])('the load, at a shop that %s: says how many', async (_, buyersOfOneUnit, twice) => {
  let sales = 0;
  const shop = createServer((request, response) => {
    if (request.method === 'POST') sales += 1;
    const remaining = 100 - Math.floor(sales / buyersOfOneUnit);
    response.end(JSON.stringify(request.method === 'POST' ? { node: 'node-1', remaining } : { remaining }));
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const { port } = shop.address() as AddressInfo;
  const child = execFile(process.execPath, [`${root}/load/sell.mjs`, `http://127.0.0.1:${port}`], {
    cwd: projectDir,
    env: { ...process.env, REQUESTS: '20', CONNECTIONS: '2' },
  });
  let printed = '';
  child.stdout?.on('data', (text) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  shop.close();
  shop.closeAllConnections();

  expect(printed).toBe(
    `node-1 sold 20\n20 sold, 0 refused, 0 without a response\nstock before 100, final stock ${80 + twice}, expected 80: ${twice} sold twice\n`,
  );
  expect(code).toBe(twice > 0 ? 1 : 0);
});
