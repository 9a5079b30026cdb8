// The runs of which the figures of the documents are made, in their order, and what is kept of each.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spreadOver } from '../bench/figures.ts';
import { type BenchResults, benchSchema, type TurnFigures } from '../bench/results.ts';
import { rowsAt } from '../bench/table.ts';
import { drills } from '../drills/index.ts';
import { LATEST_PROOF, PROOF_FILE, type Proof, proofSchema } from '../evidence/proof.ts';
import { type DrillResult, type Results, resultsSchema } from '../evidence/results.ts';
import { matrixOf, summaryOf } from '../prove/matrix.ts';
import { keyFigure } from '../report/cells.ts';
import { marks } from '../report/terminal.ts';
import { storyCells } from '../staircase/plan.ts';
import type { BenchName, FiguresRecord, Run } from './record.ts';

/** A run, and what is kept of its report. */
export interface Step {
  name: string;
  /** How to call it: an npm script with its arguments, and what it reads of the environment. */
  script: 'start' | 'staircase' | 'bench' | 'prove';
  args: string[];
  env?: Record<string, string>;
  /** About how long it takes on two CPUs with nothing else to do. */
  minutes: number;
  /** The link in the folder of the reports that leads to its report. */
  latest: string;
  /** Reads the report in a folder. Throws when it is none of this kind. */
  keep(record: FiguresRecord, folder: string): FiguresRecord;
}

/** What the documents compare: the ceilings, and the built-in locks that say something that another one does not. */
const IN_THE_BENCH =
  'serial-ceiling,handover-ceiling,8,blocking,fair,cohort,combine,fenced,replicated,redlock,redis-atomic';

/** The stock in one key under one lock, and in more and more keys. */
const BUCKETS = 'fenced,buckets-1,buckets-2,buckets,buckets-8,buckets-16';

/** The last run of drills is that of which `npm run pictures` makes the pictures. */
export const steps: Step[] = [
  ofDrills('staircase-beyond', 'staircase', ['--real', '--beyond'], 12, keepStaircase),
  ofDrills('start', 'start', [], 1.5),
  { ...ofDrills('start-4', 'start', [], 0.3), env: { LOCK_VERSION: '4' } },
  ofDrills('start-orders', 'start', ['--track', 'orders'], 1, keepOrders),
  ofBuyers(2),
  ofBuyers(10),
  ofDrills('staircase', 'staircase', ['--real'], 3.5),
  ofBench('bench-http', ['--http', '--only', 'http-ceiling,8,cohort,combine,redis-atomic', '--waiters', '100'], 1.7),
  ofBench('bench-orders', ['--orders', '--waiters', '100'], 4),
  ofBench('bench-buckets', ['--only', BUCKETS, '--waiters', '10,100', '--seconds', '2'], 3.1),
  ofBench('bench', ['--only', IN_THE_BENCH, '--waiters', '100,1000'], 7.6),
  { name: 'prove', script: 'prove', args: ['--seconds', '190'], minutes: 3.2, latest: LATEST_PROOF, keep: keepProof },
];

/** The command as one would type it. */
export function commandOf({ script, args, env = {} }: Step): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  const npm = script === 'start' ? 'npm start' : `npm run ${script}`;
  return `${settings.join('')}${npm}${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`;
}

const signOf = (verdict: DrillResult['verdict']) => stripVTControlCharacters(marks[verdict]);

type KeepResults = (results: Results, record: FiguresRecord) => Partial<FiguresRecord>;

function ofDrills(
  name: string,
  script: 'start' | 'staircase',
  args: string[],
  minutes: number,
  kept: KeepResults = () => ({}),
): Step {
  return {
    name,
    script,
    args,
    minutes,
    latest: 'latest',
    keep(record, folder) {
      const results = resultsSchema.parse(read(folder, 'results.json'));
      const { startedAt, durationMs, environment } = results;
      const command = withoutFolder(results.command);
      const cells = results.stages.reduce((sum, stage) => sum + stage.drills.length, 0);
      const run = { command, startedAt, durationMs, ...machineAndServers(environment), cells };
      return { ...record, runs: { ...record.runs, [name]: run }, ...kept(results, record) };
    },
  };
}

/** The rush of every row, what the story of the stages shows, and all cells as signs. */
function keepStaircase({ stages }: Results): Partial<FiguresRecord> {
  const rows = stages.map(({ stage }) => stage);
  const told = storyCells(
    rows.filter((stage) => /^\d/.test(stage)),
    drills,
  );
  const isTold = (stage: string, { drill }: DrillResult) =>
    drill === 'rush' || told.some((cell) => cell.stage === stage && cell.drill.name === drill);
  return {
    staircase: {
      cells: stages.flatMap(({ stage, drills }) =>
        drills
          .filter((result) => isTold(stage, result) && isSettled(result))
          .map((result) => ({ stage, result: asShown(result) })),
      ),
      signs: Object.fromEntries(
        stages.map(({ stage, drills }) => [
          stage,
          Object.fromEntries(drills.map(({ drill, verdict }) => [drill, signOf(verdict)])),
        ]),
      ),
    },
  };
}

/** The rush of `mysql-optimistic` with fewer buyers at a time than that of the staircase. */
function ofBuyers(connections: number): Step {
  const args = ['--stage', 'mysql-optimistic', '--drill', 'rush', '--connections', String(connections)];
  return ofDrills(`buyers-${connections}`, 'start', args, 0.3, ({ stages }, record) => {
    const results = stages.flatMap(({ drills }) => drills).filter(isSettled);
    const others = (record.buyers ?? []).filter((row) => row.connections !== connections);
    return { buyers: [...others, ...results.map((result) => ({ connections, result: asShown(result) }))] };
  });
}

/** What is unknown, or does not apply, has no figures that may be shown. */
const isSettled = ({ verdict }: DrillResult) => verdict === 'pass' || verdict === 'fail';

/** No document draws the stock or a timeline of it, or shows a second witness. */
function asShown({ timeline, told, ...result }: DrillResult): DrillResult {
  return { ...result, witnesses: result.witnesses.slice(0, 1), stockOverTime: [] };
}

function keepOrders({ stages }: Results): Partial<FiguresRecord> {
  return {
    orders: stages.flatMap(({ stage, drills }) =>
      drills.map((result) => ({
        stage,
        drill: result.drill,
        sign: signOf(result.verdict),
        figure: keyFigure(result) ?? '',
      })),
    ),
  };
}

function ofBench(name: BenchName, args: string[], minutes: number): Step {
  return {
    name,
    script: 'bench',
    args,
    minutes,
    latest: 'latest-bench',
    keep(record, folder) {
      const results = benchSchema.parse(read(folder, 'bench.json'));
      const mode = args.includes('--http') || args.includes('--orders') ? 'http' : 'locks';
      if (results.mode !== mode)
        throw new Error(`${folder} has a bench of ${results.mode}, and ${name} is one of ${mode}`);
      const { startedAt, durationMs, environment } = results;
      const command = withoutFolder(results.command);
      const run = { command, startedAt, durationMs, ...machineAndServers(environment) };
      return { ...record, runs: { ...record.runs, [name]: run }, [name]: benchOf(results) };
    },
  };
}

function benchOf(results: BenchResults): NonNullable<FiguresRecord['bench']> {
  const { turns, settings, ratios } = results;
  const rows = settings.waiters.flatMap((waiters) =>
    rowsAt(results, waiters).flatMap(({ name }) => {
      const median = (figure: (figures: TurnFigures) => number | undefined) =>
        spreadOver(turns, name, waiters, figure)?.value;
      const perSecond = spreadOver(turns, name, waiters, (figures) => figures.perSecond);
      if (perSecond === undefined) return [];
      const own = turns.flatMap((turn) => (turn.name === name && turn.waiters === waiters && turn.figures) || []);
      const [commands, p99ToIdeal] = [median((f) => f.commandsPerAcquisition), median((f) => f.p99ToIdeal)];
      const [p50, p99, max] = [
        median((f) => f.waitMs?.p50),
        median((f) => f.waitMs?.p99),
        median((f) => f.waitMs?.max),
      ];
      return {
        waiters,
        name,
        perSecond,
        ...(commands !== undefined && { commands }),
        ...(p50 !== undefined && p99 !== undefined && max !== undefined && { waitMs: { p50, p99, max } }),
        ...(p99ToIdeal !== undefined && { p99ToIdeal }),
        starved: Math.max(...own.map(({ starved }) => starved)),
        lostUpdates: own.reduce((sum, { lostUpdates }) => sum + lostUpdates, 0),
      };
    }),
  );
  return { rounds: settings.rounds, seconds: settings.seconds, isAwake: settings.spinners !== null, rows, ratios };
}

function keepProof(record: FiguresRecord, folder: string): FiguresRecord {
  const proof: Proof = proofSchema.parse(read(folder, PROOF_FILE));
  const { command, createdAt: startedAt, durationMs, machine, server, cells } = proof;
  if (durationMs === undefined || machine === undefined) {
    throw new Error(`${folder} does not say how long the search took, and on what: run it again`);
  }
  const run: Run = {
    command: withoutFolder(command),
    startedAt,
    durationMs,
    machine,
    servers: [server],
    cells: cells.length,
  };
  const states = cells.reduce((sum, cell) => sum + cell.states, 0);
  const search = { says: summaryOf(cells, server), states, matrix: matrixOf(cells) };
  return { ...record, runs: { ...record.runs, prove: run }, search };
}

function machineAndServers({
  redis,
  nginx,
  backends,
  ...machine
}: Results['environment']): Pick<Run, 'machine' | 'servers'> {
  const web = nginx === 'none' ? [] : [`nginx ${nginx}`];
  return {
    machine,
    servers: [
      `${redis.version} (${redis.kind})`,
      ...web,
      ...Object.entries(backends).map((backend) => backend.join(' ')),
    ],
  };
}

/** Where the reports went is nobody's business but that machine's. */
function withoutFolder(command: string): string {
  return command.replace(/ --reports \S+/, '').replace(/ --$/, '');
}

function read(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}
