// npm run up: runs the stack on the course's ports until Ctrl-C or `npm run down`.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Option } from 'commander';
import { z } from 'zod';
import { type Backend, backendOf, numberOf } from '../locks/index.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { exitWithSettingError, withoutPassword } from '../services/inventory/settings/setting-error.ts';
import { port } from '../services/inventory/settings/setting-kinds.ts';
import { inventorySettings, lockVersion, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { type Backends, startBackends } from '../stack/backends.ts';
import { callOf } from '../stack/call-of.ts';
import { claimControl } from '../stack/control.ts';
import { PortTaken } from '../stack/parts.ts';
import { plainLine } from '../stack/plain-line.ts';
import { isFree } from '../stack/ports.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { addressOf, upPortsFor } from '../stack/usual-ports.ts';
import { type Given, newCommand, ownServersOf, stageNamed } from './command-line/command.ts';

const STOCK = 5_000;

const command = newCommand('up', ['nodes', 'redis', 'zookeeper']);
// Elsewhere it is an option.
command.addOption(new Option('--stage <stage>').hideHelp());
const { stage, ...given } = command.parse().opts<Given>();
if (stage !== undefined) {
  const version = stageNamed(stage, command);
  command.error(
    `error: up reads the lock from its environment: LOCK_VERSION=${numberOf(version) ?? version} ${callOf('up')}`,
  );
}
loadEnvFile();
const { nodes: nodeCount = 2 } = given;
const { redisMode, zookeepers } = ownServersOf(given, command);
const { LOCK_VERSION, ORDERS, HOST } = readSettingsOrExit(
  z.object({
    LOCK_VERSION: lockVersion.default('8-auto-renew'),
    ORDERS: inventorySettings.shape.ORDERS.unwrap().optional(),
    HOST: inventorySettings.shape.HOST,
  }),
  process.env,
);
const usualPorts = Object.entries(upPortsFor(nodeCount));
const settings = readSettingsOrExit(
  z.object(Object.fromEntries(usualPorts.map(([setting, usual]) => [setting, port().default(usual)]))),
  process.env,
);
const portOf = (setting: string) => Number(settings[setting]);
// Before anything is started that would have to be stopped.
const { STOCK_CACHE } = readSettingsOrExit(inventorySettings, { ...process.env, HOST });
const isCached = STOCK_CACHE !== 'off';
// A MySQL that is started for the lock alone, or that has the stock, gets no orders.
const hasOrders = ORDERS === 'on' || (ORDERS !== 'off' && !isCached && !!process.env['MYSQL_URL']);

const needed: Backend[] = hasOrders || isCached ? [backendOf(LOCK_VERSION), 'mysql'] : [backendOf(LOCK_VERSION)];
if (zookeepers) needed.push('zookeeper');
/** The ports that our servers will use, by setting. */
const ports: Record<string, number> = { ...settings };
if (process.env['REDIS_URL']) delete ports['REDIS_PORT'];
if (process.env['MYSQL_URL'] || !needed.includes('mysql')) delete ports['MYSQL_PORT'];

const stopAsked = new Promise<string>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('Stopping.'));
});
const control = await claimControl().catch((error: Error) => exitWithSettingError(error.message));
if (control === undefined) exitWithSettingError(`The stack is already up. Stop it with: ${callOf('down')}`);
await refuseTakenPorts();

let stack: Stack | undefined;
let backends: Backends | undefined;
try {
  const onSpare = (sentence: string) => console.log(sentence);
  backends = await startBackends(needed, { mysqlPort: portOf('MYSQL_PORT'), zookeepers, onSpare });
  const [lack] = Object.values(backends.lacks).filter((sentence) => sentence !== undefined);
  if (lack) throw new Error(lack);
  const namespace = await backends.openNamespace();
  stack = await startStack({
    host: HOST,
    redisMode,
    env: { ORDERS: hasOrders ? 'on' : 'off', ...namespace },
    nodes: nodeCount,
    ports: {
      redis: portOf('REDIS_PORT'),
      nginx: portOf('NGINX_PORT'),
      nodes: Array.from({ length: nodeCount }, (_, index) => ({
        port: portOf(`NODE_${index + 1}_PORT`),
        labPort: portOf(`NODE_${index + 1}_LAB_PORT`),
      })),
    },
    onLine: (name, line) => console.log(`${name}  ${plainLine(line) ?? line}`),
  });
  await setStock(stack);
  await describe(stack, namespace, backends);
  const died = Promise.race([stack.partDied, backends.partDied]).then(({ message }) => {
    process.exitCode = 1;
    return message;
  });
  console.log(await Promise.race([stopAsked, control.downAsked, died]));
} catch (error) {
  process.exitCode = 2;
  console.error(whyNot(error));
}
await stack?.stop();
await backends?.stop();
await control.release();
process.exit();

async function refuseTakenPorts() {
  for (const [setting, port] of Object.entries(ports)) {
    if (await isFree(addressOf(setting, port, HOST))) continue;
    await control?.release();
    exitWithSettingError(portRefusal(port));
  }
}

function portRefusal(taken: number) {
  const [variable] = Object.entries(ports).find(([, port]) => port === taken) ?? [];
  return `Port ${taken} is taken by another program. Choose another one with ${variable}.`;
}

function whyNot(error: unknown) {
  // It was free at first.
  if (error instanceof PortTaken && Object.values(ports).includes(error.port)) return portRefusal(error.port);
  return withoutPassword(`The stack could not be started: ${error instanceof Error ? error.message : error}`);
}

async function setStock({ nodes: [node] }: Stack) {
  if (node === undefined) return;
  // Of a Redis that was used before, the stock has seen tokens that may be newer than those of a lock that starts today.
  await fetch(`${node.labUrl}/stock`, { method: 'DELETE' });
  const response = await fetch(`${node.labUrl}/stock`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stock: STOCK }),
  });
  if (!response.ok) throw new Error(`the stock could not be set: ${await response.text()}`);
}

/** The servers behind one connection, and the command that kills each. */
function serversOf({ redisSet, replica }: Stack, { processes }: Backends): string {
  const lines = (redisSet?.servers ?? []).map(
    ({ name, url, part }) => `${name}, ${url}, kill it with kill -9 ${part.pid}`,
  );
  if (replica) lines.push(`replica, ${replica.url}`);
  const members = (processes.zookeeper ?? []).map(
    ({ pid }, at) => `zookeeper ${at + 1}, kill it with kill -9 ${pid()}`,
  );
  return [...lines, ...(members.length > 1 ? members : [])].map((line) => `\n         ${line}`).join('');
}

async function describe(stack: Stack, namespace: NodeJS.ProcessEnv, backends: Backends) {
  const { redis, redisSet, replica, nginx, nodes } = stack;
  const redisUrl = redisSet?.url ?? redis.url;
  const howToSee = redisSet?.howToSee ?? (replica && `redis-cli -u ${replica.url} info replication`);
  const states = await Promise.all(nodes.map(({ labUrl }) => fetch(`${labUrl}/state`).then((answer) => answer.json())));
  const [{ lock }] = states as [{ lock: string }];
  // A node that answers has told of its start. Two turns of the event loop read that: what follows is the end of what is printed.
  await nextTurn();
  await nextTurn();
  const switchLock = (labUrl: string) =>
    `curl -X PUT ${labUrl}/lock-version -H 'Content-Type: application/json' -d '{"version":"1"}'`;
  const given = Object.entries(namespace).map(([setting, value]) => `${setting}=${value}`);
  const text = `
redis    ${redis.kind}, ${redisUrl}${serversOf(stack, backends)}${given.map((setting) => `\n         ${setting}`).join('')}
nginx    ${nginx.kind} ${nginx.version}, ${nginx.url}, access log ${nginx.accessLog}
${nodes.map(({ name, url, labUrl }) => `${name.padEnd(8)} ${url}, admin API ${labUrl}`).join('\n')}
lock     ${lock}
stock    ${STOCK} units of sku 001

Sell one unit:       curl -w '\\n' -X POST ${nginx.url}/inventory/sale
See the stock:       curl -w '\\n' ${nginx.url}/inventory
${howToSee ? `See the primary:     ${howToSee}\n` : ''}By hand:             . scripts/lab.sh, then sale, stock, next_sale, redis (see the file for more)
Switch the lock:     ${nodes.map(({ labUrl }) => switchLock(labUrl)).join(`\n${' '.repeat(21)}`)}
${
  hasOrders
    ? `See the orders:      curl -w '\\n' ${nginx.url}/orders
Stock and orders:    REDIS_URL=${redisUrl} ${given.join(' ')} ${callOf('reconcile')}
`
    : ''
}Run a drill on it:   ${callOf('start', `--url ${nginx.url} --lab ${nodes.map(({ labUrl }) => labUrl).join(',')} --stage 1`)}
Stop:                Ctrl-C here, or ${callOf('down')} in another terminal
`;
  console.log(withoutPassword(text));
}
