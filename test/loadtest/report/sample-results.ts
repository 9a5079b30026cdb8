import { type DrillResult, type Results, type RushFigures, resultsSchema } from '../../../loadtest/evidence/results.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';
import { stepDrillNames, stepResult } from './sample-steps.ts';

const rushNames = ['one-node-rush', 'rush', 'sell-out'];

/** What the rushes of stages 0 to 8 give, each judged as expected. `change` edits a copy of it, which is then judged anew. */
export function sampleResults(change: (results: Results) => void = () => {}): Results {
  const results: Results = {
    format: 3,
    command: 'npm start',
    startedAt: '2026-11-21T10:15:00.000Z',
    durationMs: 74_310,
    verdict: 'as-expected',
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
      load: 0.3,
    },
    settings: { requests: 2_000, connections: 100, stock: 5_000, units: 1_000, leaseMs: 1_000 },
    stages: Object.keys(locks).map((stage, lockVersion) => ({
      stage,
      lockVersion,
      drills: rushNames.map((drill) => rushOf(stage, lockVersion, drill)),
    })),
  };
  Object.assign(results, judgeRun(results.stages, []));
  change(results);
  return resultsSchema.parse(results);
}

/** Of a rush nothing but its verdict is read from the staircase: 750 sales are lost where it fails. */
function rushOf(stage: string, number: number, drill: string): DrillResult {
  const expected = verdictExpected(stage, drill);
  const wrong = expected === 'fail' ? 750 : 0;
  const [initialStock, isSellOut] = drill === 'sell-out' ? [1_000, true] : [5_000, false];
  const sold = isSellOut ? 1_000 + wrong : 2_000;
  const figures: RushFigures = {
    ...{ sent: 2_000, answers: 2_000, errors: 0, received: 2_000, sold, soldOut: 2_000 - sold, lockTimeout: 0 },
    ...{
      failed: 0,
      inDoubt: 0,
      overlaps: 2 * wrong,
      throughput: 2_611.7 - 200 * number,
      redisCommandsPerSale: 2 + number,
    },
    initialStock,
    expectedStock: initialStock - sold,
    finalStock: initialStock - sold + wrong,
    lostUpdates: wrong,
    oversold: isSellOut ? wrong : 0,
    latencyMs: { p50: 30.2 + number, p95: 52.8, p99: 68.2, max: 1_902 },
    soldByNode: { 'node-1': sold / 2, 'node-2': sold / 2 },
  };
  const evidence = Array.from({ length: wrong / 2 }, (_, at) => `two sales both read stock ${5_000 - at}`);
  return {
    ...{ drill, expected, verdict: expected ?? 'pass', figures, durationMs: 1_076 },
    reasons: [wrong > 0 ? `The stock is ${figures.finalStock} and should be ${figures.expectedStock}.` : 'It holds.'],
    ...{ evidence: evidence.slice(0, 10), evidenceCount: evidence.length },
  };
}

/** With a drill of each group of the staircase, which goes step by step. */
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
