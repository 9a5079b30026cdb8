import {
  type DrillResult,
  type Results,
  type RushFigures,
  resultsSchema,
  rushFigures,
} from '../../../loadtest/evidence/results.ts';
import { taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { stepDrillNames, stepResult } from './sample-steps.ts';

const stageNames = [
  '0-none',
  '1-in-process',
  '2-recursive-retry',
  '3-spin',
  '4-ttl',
  '5-owner-check',
  '6-lua-release',
  '7-reentrant',
  '8-auto-renew',
];

const drillNames = ['one-node-rush', 'rush', 'sell-out'] as const;

/**
 * What the rushes of stages 0 to 8 give on the machine that the course is written on, without their course, which takes long to
 * draw. `change` edits a copy of it.
 */
export function sampleResults(change: (results: Results) => void = () => {}): Results {
  const results: Results = {
    format: 1,
    command: 'npm start',
    startedAt: '2026-11-21T10:15:00.000Z',
    durationMs: 74_310,
    verdict: 'as-taught',
    verdictReasons: [],
    leftOut: [],
    environment: {
      node: 'v20.20.2',
      os: 'Linux 6.1.0 x64',
      cpus: '2 × AMD EPYC',
      redis: { kind: 'native', version: '7.0.15' },
      nginx: '1.25.4',
      backends: {},
      commit: 'b4e499a',
    },
    settings: { requests: 2_000, connections: 100, stock: 5_000, units: 1_000, leaseMs: 1_000 },
    stages: stageNames.map((stage, lockVersion) => ({
      stage,
      lockVersion,
      drills: drillNames.map((drill) => drillResult(lockVersion, drill)),
    })),
  };
  change(results);
  return resultsSchema.parse(results);
}

/** The stock in the course of each rush is there as well. */
export function sampleWithCourses(): Results {
  return sampleResults(({ stages }) => {
    for (const result of stages.flatMap(({ drills }) => drills)) {
      const figures = rushFigures(result);
      if (figures !== undefined) result.stockOverTime = stockOf(figures, result.durationMs - 310);
    }
  });
}

/** A run of every drill that can break a stage. */
export function sampleWithSteps(change: (results: Results) => void = () => {}): Results {
  return sampleResults((results) => {
    for (const [number, { drills }] of results.stages.entries()) {
      drills.push(...stepDrillNames.map((drill) => stepResult(number, drill)));
    }
    change(results);
  });
}

/** The result of one cell of `results`. */
export function cellOf({ stages }: Results, stage: string, drill: string): DrillResult {
  const result = stages.find((s) => s.stage === stage)?.drills.find((d) => d.drill === drill);
  if (result === undefined) throw new Error(`No ${stage} ${drill}`);
  return result;
}

function drillResult(stage: number, drill: (typeof drillNames)[number]): DrillResult {
  const taught = taughtVerdict(stageNames[stage] ?? '', drill);
  const figures = drill === 'sell-out' ? sellOut(stage) : rush(stage, drill);
  const durationMs = Math.round((figures.answers / figures.throughput) * 1000);
  const witnesses = witnessesOf(figures, drill);
  return {
    drill,
    taught,
    verdict: figures.lostUpdates === 0 && figures.oversold === 0 ? 'pass' : 'fail',
    reasons: reasonsOf(figures, drill),
    figures,
    witnesses: witnesses.slice(0, 10),
    witnessCount: witnesses.length,
    stockOverTime: [],
    durationMs: durationMs + 310,
  };
}

function rush(stage: number, drill: 'one-node-rush' | 'rush'): RushFigures {
  const finalStock = drill === 'rush' ? ([4_960, 3_750][stage] ?? 3_000) : stage === 0 ? 4_951 : 3_000;
  return {
    ...answers(stage, 2_000, 2_000),
    initialStock: 5_000,
    expectedStock: 3_000,
    finalStock,
    lostUpdates: finalStock - 3_000,
    oversold: 0,
    soldByNode: drill === 'rush' ? { 'node-1': 1_003, 'node-2': 997 } : { 'node-1': 2_000 },
  };
}

function sellOut(stage: number): RushFigures {
  const sold = [2_000, 1_508][stage] ?? 1_000;
  return {
    ...answers(stage, 2_000, sold),
    initialStock: 1_000,
    expectedStock: 1_000 - sold,
    finalStock: 0,
    lostUpdates: sold - 1_000,
    oversold: sold - 1_000,
    soldByNode: { 'node-1': Math.ceil(sold / 2), 'node-2': Math.floor(sold / 2) },
  };
}

function answers(stage: number, sent: number, sold: number) {
  const p99 = [41.3, 68.2, 1_902][stage] ?? 1_640 + stage * 17;
  return {
    sent,
    answers: sent,
    errors: 0,
    received: sent,
    sold,
    soldOut: sent - sold,
    lockTimeout: 0,
    failed: 0,
    inDoubt: 0,
    overlaps: ([7_412, 1_861][stage] ?? 0) * (sold > 0 ? 1 : 0),
    throughput: [4_080.4, 2_611.7, 842.1, 881.3, 874.6, 851.9, 817.2, 623.4, 611.8][stage] ?? 800,
    latencyMs: {
      p50: [21.4, 30.2][stage] ?? 1.1 + stage / 7,
      p95: [35.1, 52.8][stage] ?? 410 + stage * 11,
      p99,
      max: p99 * 1.9,
    },
    redisCommandsPerSale: [2, 2, 12.4, 12.1, 12.2, 13.3, 10.3, 9.1, 9.4][stage] ?? 10,
  };
}

function reasonsOf({ sold, expectedStock, finalStock, oversold, initialStock }: RushFigures, drill: string) {
  if (oversold > 0) return [`${sold} units were sold, and there were ${initialStock}.`];
  if (finalStock !== expectedStock) return [`The stock is ${finalStock} and should be ${expectedStock}.`];
  return [drill === 'sell-out' ? 'Every unit was sold once.' : 'The stock is what the sales leave.'];
}

function witnessesOf({ lostUpdates }: RushFigures, drill: string) {
  const nodes = drill === 'one-node-rush' ? ['node-1', 'node-1'] : ['node-1', 'node-2'];
  return Array.from({ length: Math.ceil(lostUpdates / 2) }, (_, i) => {
    const [first, second] = [i * 2 + 1, i * 2 + 4].map((id) => String(id).padStart(4, '0'));
    return `sale ${first} on ${nodes[0]} and sale ${second} on ${nodes[1]} both read stock ${5_000 - i}`;
  });
}

/** The stock as it goes down in 200 steps, not quite evenly. */
function stockOf({ initialStock, finalStock, sold, expectedStock }: RushFigures, durationMs: number) {
  return Array.from({ length: 200 }, (_, i) => {
    const part = i / 199;
    const wobble = Math.sin(i * 1.7) * 0.012 * (1 - part) * part * 4;
    const stock = Math.round(initialStock - (initialStock - finalStock) * Math.min(1, part + wobble));
    const soldSoFar = Math.round(sold * part);
    const isSafe = finalStock === expectedStock;
    const expected = initialStock - soldSoFar;
    return { ms: Math.round(part * durationMs), stock: isSafe ? expected : stock, expected };
  });
}
