// npm run bench: measures built-in and published locks in alternating turns, and writes a report.

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pc from 'picocolors';
import { register } from 'tsx/esm/api';
import { type ByHand, openByHand } from '../loadtest/bench/by-hand-turn.ts';
import {
  BY_HAND,
  bucketCounts,
  type Contestant,
  contestants,
  httpContestants,
  NOT_FOR_TWO,
  nameOnAnyNodes,
  ORDERS_UNDER,
  onNodes,
  peerOf,
  withOrders,
} from '../loadtest/bench/contestants.ts';
import { ratiosOf } from '../loadtest/bench/figures.ts';
import { growing, growthOf, growthSheet, usualGrowth } from '../loadtest/bench/growth.ts';
import { drawGrowth } from '../loadtest/bench/growth-picture.ts';
import { NotApplicable, runHttpTurn } from '../loadtest/bench/http-turn.ts';
import { renderBenchPage } from '../loadtest/bench/page.ts';
import type { BenchResults, Turn, TurnFigures } from '../loadtest/bench/results.ts';
import { startSpinners } from '../loadtest/bench/spinners.ts';
import { describeSpinners, remarkOn, renderSheet, renderTables, titleAt } from '../loadtest/bench/table.ts';
import { runTurn } from '../loadtest/bench/turn.ts';
import { providePeers } from '../loadtest/grade/external-locks.ts';
import type { Target } from '../loadtest/harness/target.ts';
import { formatNumber, sum } from '../loadtest/narration/numbers.ts';
import { fileOfPeer, loadPeer } from '../loadtest/peers/peer.ts';
import { createRunFolder, jsonOf } from '../loadtest/run/folder.ts';
import { openLine } from '../loadtest/run/progress-line.ts';
import { usualSettings } from '../loadtest/staircase/usual-settings.ts';
import { whyNotOwnMysql } from '../loadtest/worlds/real/target.ts';
import { createTargets, type ExternalModule } from '../loadtest/worlds/real/targets.ts';
import { backendOf, lockName } from '../locks/index.ts';
import { versionIn } from '../services/inventory/servers/redis-info.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { inventorySettings } from '../services/inventory/settings/settings.ts';
import { whyNoMysql } from '../stack/mysql.ts';
import { dismissReaper, makeTempDir } from '../stack/parts.ts';
import { lackOfRedis, openRedis, openReplica, type RedisServer, untilCopied } from '../stack/redis.ts';
import { MASTERS } from '../stack/stack.ts';
import { type GivenWith, newCommand, numberFrom, refuseName } from './command-line/command.ts';
import { AS_EXPECTED, COULD_NOT_RUN, endWith, NOT_AS_EXPECTED, stopOnSignal } from './command-line/ending.ts';
import { commandLine, describeMachine } from './command-line/environment.ts';

/** What the turns of a run are measured on. */
interface Ground {
  environment: Pick<Target, 'redis' | 'nginx' | 'backends'>;
  runTurn(contestant: Contestant, waiters: number): Promise<TurnFigures>;
  close(): Promise<void>;
}

loadEnvFile();
const command = newCommand(
  'bench',
  [
    'only',
    'rounds',
    'seconds',
    'waiters',
    'http',
    'nodeCounts',
    'grow',
    'orders',
    'requests',
    'spinners',
    'json',
    'reports',
  ],
  {
    only: { help: `what to measure (default: all): ${contestants.map(({ name }) => name).join(', ')}` },
    seconds: { help: 'how long one measurement takes, in seconds', read: numberFrom(0.1, 600), usual: 3 },
    requests: { help: 'with --http and --orders: sales per turn', usual: 4_000 },
  },
).parse();
// The adapters of published locks are TypeScript, and this process runs from a bundle.
providePeers();
register();
const given = command.opts<GivenWith<'rounds' | 'seconds' | 'waiters' | 'requests'>>();
const { rounds, seconds, requests, orders = false, grow = false, reports } = given;
const isHttp = given.http || orders || grow;
const isOwn = (option: string) => command.getOptionValueSource(option) === 'cli';
const waiters = grow && !isOwn('waiters') ? usualGrowth.connections : given.waiters;
const { nodes = grow ? usualGrowth.nodes : undefined } = command.opts<{ nodes?: number[] }>();
const mode = isHttp ? 'http' : 'locks';
const most = Math.max(...waiters);
if (isHttp && most > requests) command.error(`error: --waiters ${most} is more than --requests ${requests}`);
if (nodes && (!isHttp || orders))
  command.error("error: --nodes needs --http or --grow, and can't be combined with --orders");
const chosen = chooseContestants();
// Nobody's settings but the defaults: the figures of two runs must compare.
const { LEASE_MS, RETRY_DELAY_MS } = inventorySettings.parse({});
/** A measurement that the available servers don't support: not an error. */
const notApplicable = new Set<string>();
const stopping = stopOnSignal(new Error('The benchmark was interrupted.'));
const say = given.json ? () => {} : (line: string) => void process.stdout.write(`${line}\n`);

await endWith('The benchmark could not run', run);

/** Resolves with the exit code. */
async function run(): Promise<number> {
  const startedAt = new Date();
  const ground = isHttp ? await openStack() : await openServers();
  let spinners: BenchResults['settings']['spinners'] = null;
  let turns: Turn[];
  try {
    const started = given.spinners ? await startSpinners(stopBecause) : undefined;
    if (started) spinners = { count: started.count, priority: started.priority };
    say(`CPUs kept awake: ${describeSpinners({ spinners })}.`);
    turns = await runTurns(ground).finally(() => started?.stop());
  } finally {
    await ground.close();
  }
  if (turns.length === 0) return COULD_NOT_RUN;

  const contestants = await Promise.all(chosen.map(describeContestant));
  const results: BenchResults = {
    format: 1,
    command: commandLine('bench'),
    startedAt: startedAt.toISOString(),
    durationMs: Date.now() - startedAt.getTime(),
    mode,
    environment: { ...describeMachine(), ...ground.environment },
    settings: {
      rounds,
      seconds,
      waiters,
      leaseMs: LEASE_MS,
      retryDelayMs: RETRY_DELAY_MS,
      spinners,
      ...(nodes && { nodes }),
      ...(grow && { grows: true }),
    },
    contestants,
    turns,
    ratios: ratiosOf({ mode, turns, contestants }),
  };
  const { dir, write, pointAt } = createRunFolder(reports, startedAt);
  write('bench.json', jsonOf(results));
  write('bench.html', renderBenchPage(results));
  if (grow) write('growth.svg', drawGrowth(growthOf(results)).markup);
  pointAt('latest-bench');
  say(`\n${grow ? growthTables(results) : renderTables(results)}\n\nThe report: ${dir}/bench.html`);
  if (given.json) process.stdout.write(jsonOf(results));
  if (stopping.signal.aborted) return COULD_NOT_RUN;
  return turns.some(isOursAndBroken) ? NOT_AS_EXPECTED : AS_EXPECTED;
}

/** The contestants that were named, in the bench's order: a stage by number or name, the others by name. */
function chooseContestants(): Contestant[] {
  const sellers = orders ? httpContestants.filter(({ kind }) => kind === 'ours') : httpContestants;
  const all = isHttp ? sellers : [...contestants, ...bucketCounts];
  const usual = orders ? ORDERS_UNDER : usualGrowth.under;
  const isUsual = ({ name, buckets }: Contestant) => usual.includes(name) || !(orders || grow || buckets);
  const wanted = given.only?.map((name) => {
    const isNamed = (contestant: Contestant) => contestant.name === name || contestant.name === lockName(name);
    const found = all.find(isNamed) ?? all.find((contestant) => peerOf(contestant.name) === name);
    const known = all.map((each) => each.name);
    return found ?? refuseName(command, `--only ${name} is unknown`, name, known);
  });
  const found = all.filter((contestant) => wanted?.includes(contestant) ?? isUsual(contestant));
  // It is no node: there are two of it, always.
  const onAnyNodes = found.filter(({ name }) => name !== BY_HAND);
  if (nodes) return grow ? growing(onAnyNodes, nodes, waiters) : onNodes(onAnyNodes, nodes);
  return orders ? withOrders(found) : found;
}

/** In each round every contestant is measured with every number of waiters. Each round starts with a different contestant. */
async function runTurns(ground: Ground): Promise<Turn[]> {
  const turns: Turn[] = [];
  const show = openLine(given.json ? process.stderr : process.stdout);
  const inRound = (asking: number) => (contestant: Contestant) => (contestant.waiters ?? asking) === asking;
  const all = rounds * sum(waiters.map((asking) => chosen.filter(inRound(asking)).length));
  for (let round = 1; round <= rounds; round += 1) {
    const first = Math.floor(((round - 1) * chosen.length) / rounds);
    const inTurn = [...chosen.slice(first), ...chosen.slice(0, first)];
    for (const asking of waiters) {
      say(pc.bold(`\nRound ${round} of ${rounds}, ${titleAt(mode, asking)}`));
      for (const contestant of inTurn.filter(inRound(asking))) {
        show(`  ${contestant.name} …  ${turns.length + 1} of ${all}`);
        const turn: Turn = { round, waiters: asking, name: contestant.name };
        try {
          turn.figures = await ground.runTurn(contestant, asking);
        } catch (error) {
          show('');
          if (stopping.signal.aborted) return turns;
          if (error instanceof NotApplicable) notApplicable.add(contestant.name);
          turn.failure = error instanceof Error ? error.message : String(error);
        }
        turns.push(turn);
        show('');
        say(`  ${contestant.name.padEnd(24)} ${describe(turn)}`);
      }
    }
  }
  return turns;
}

/** Separate servers for the bench: another program's commands must not be counted. */
async function openServers(): Promise<Ground> {
  const temp = makeTempDir();
  const redis = await openRedis(undefined, temp);
  const masters: RedisServer[] = [];
  const needed = chosen.some(({ needsMasters }) => needsMasters) ? MASTERS : 0;
  while (masters.length < needed) masters.push(await openRedis(undefined, temp));
  const env = { REDIS_URL: redis.url, LEASE_MS: String(LEASE_MS), RETRY_DELAY_MS: String(RETRY_DELAY_MS) };
  /** For one turn, so that the commands of other contestants are not replicated. */
  async function startReplica() {
    if (redis.kind !== 'native') throw new NotApplicable('The embedded Valkey does not support replication.');
    const dir = join(temp.dir, `replica-${randomUUID()}`);
    mkdirSync(dir);
    const replica = await openReplica(redis.url, dir);
    await untilCopied({ primaryUrl: redis.url, replicaUrl: replica.url }).catch(async (error) => {
      await replica.part?.stop();
      throw error;
    });
    return replica;
  }
  const withMasters = { ...env, REDLOCK_URLS: masters.map(({ url }) => url).join(',') };
  return {
    environment: { redis: { kind: redis.kind, version: await versionOf(redis.url) }, nginx: 'none', backends: {} },
    async runTurn(contestant, waiters) {
      const lack = contestant.kind === 'ours' ? await lackOfRedis(redis.url, contestant.name) : undefined;
      if (lack !== undefined) throw new NotApplicable(lack);
      const replica = contestant.needsReplica ? await startReplica() : undefined;
      const turn = runTurn({
        contestant,
        waiters,
        seconds,
        env: contestant.needsMasters ? withMasters : env,
        tellsCpu: redis.kind === 'native',
        signal: stopping.signal,
      });
      return turn.finally(() => replica?.part?.stop());
    },
    async close() {
      for (const { part } of [...masters, redis]) await part?.stop();
      temp.remove();
      await dismissReaper();
    },
  };
}

/** One local stack for each number of nodes. With orders there is one more, whose nodes write orders. */
async function openStack(): Promise<Ground> {
  const whyNone = orders && (whyNotOwnMysql() ?? whyNoMysql());
  if (whyNone) throw new Error(whyNone);
  const ours = chosen.filter(({ kind, ordersUnder }) => kind === 'ours' && ordersUnder === undefined);
  const backends = [...new Set(ours.map(({ name }) => backendOf(nameOnAnyNodes(name))))];
  const peers = chosen
    .filter(({ kind }) => kind === 'peer')
    .map((peer) => ({ ...peer, name: nameOnAnyNodes(peer.name) }));
  const moduleOf = ({ name, needsMasters }: Contestant): ExternalModule => ({
    file: fileOfPeer(peerOf(name)),
    backend: needsMasters ? 'masters' : 'redis',
  });
  const modules = Object.fromEntries(peers.map((peer) => [peer.name, moduleOf(peer)]));
  const service = 'loadtest/bench/node.ts';
  const open = (nodes: number) => createTargets({ nodes, backends, modules, service, onDeath: stopBecause });
  const counts = new Set(chosen.map(({ nodes: count = 2 }) => count));
  const plain = new Map([...counts].map((count) => [count, open(count)]));
  const selling = createTargets({
    backends: [...new Set([...backends, 'mysql' as const])],
    env: usualSettings,
    onDeath: stopBecause,
  });
  const [first = selling] = orders ? [] : plain.values();
  let byHand: ByHand | undefined;
  const close = async () => {
    await byHand?.close();
    await selling.close();
    for (const stacks of plain.values()) await stacks.close();
  };
  try {
    const target = await first.open('load');
    const { redis, nginx, backends: versions } = target;
    if (chosen.some(({ name }) => name === BY_HAND)) byHand = await openByHand(target, stopBecause);
    return {
      environment: { redis, nginx, backends: versions },
      async runTurn(contestant, connections) {
        const { name, kind, needsReplica, ordersUnder, nodes: count = 2 } = contestant;
        if (byHand && name === BY_HAND) return byHand.runTurn(connections, requests, stopping.signal);
        const targets = ordersUnder === undefined ? plain.get(count) : selling;
        // A published lock has nodes of its own, and so has a lock that waits for a replica.
        const alone = kind === 'peer' || needsReplica ? (ordersUnder ?? nameOnAnyNodes(name)) : undefined;
        const target = await (targets ?? first).open('load', 0, alone);
        return runHttpTurn({ target, contestant, connections, requests, signal: stopping.signal });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Ends the run for the reason given. */
function stopBecause(sentence: string) {
  process.stderr.write(`The benchmark stops: ${sentence}\n`);
  stopping.abort(new Error(sentence));
}

async function versionOf(url: string): Promise<string> {
  const redis = new Redis(url);
  const info = await redis.info('server').finally(() => redis.disconnect());
  return versionIn(info) ?? 'unknown';
}

async function describeContestant({ name, kind }: Contestant): Promise<BenchResults['contestants'][number]> {
  if (kind !== 'peer') return { name, kind };
  const { version, options } = await loadPeer(peerOf(nameOnAnyNodes(name)));
  return { name, kind, version, options };
}

/** The terminal's tables of a run with --grow: at most 80 columns wide, except for error messages. */
function growthTables(results: BenchResults): string {
  const remarks = turnsOf(results).flatMap(({ name, waiters, own }) => {
    const remark = remarkOn(own);
    return remark === '' ? [] : [`${name}, ${titleAt(mode, waiters)}: ${remark}`];
  });
  return [...growthOf(results).map((growth) => renderSheet(growthSheet(growth))), ...remarks].join('\n\n');
}

function turnsOf({ turns, contestants }: BenchResults) {
  return contestants.flatMap(({ name }) =>
    waiters.map((asking) => ({
      name,
      waiters: asking,
      own: turns.filter((turn) => turn.name === name && turn.waiters === asking),
    })),
  );
}

function describe({ figures, failure }: Turn): string {
  if (figures === undefined) return pc.red(failure ?? '');
  const lost =
    figures.lostUpdates > 0 ? pc.red(`  not exclusive: ${formatNumber(figures.lostUpdates)} lost updates`) : '';
  return `${formatNumber(figures.perSecond).padStart(7)} per second${lost}`;
}

function isOursAndBroken({ name, figures }: Turn): boolean {
  const kind = chosen.find((contestant) => contestant.name === name)?.kind;
  if (kind !== 'ours' || notApplicable.has(name)) return false;
  // Without a lock, and with one for each process, two nodes must lose updates.
  return figures === undefined || (figures.lostUpdates > 0 && !NOT_FOR_TWO.includes(nameOnAnyNodes(name)));
}
