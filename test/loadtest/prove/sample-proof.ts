import { type Proof, type ProofCell, type ProofStep, proofSchema } from '../../../loadtest/evidence/proof.ts';

/** A cell that holds, but for what is given. */
export function sampleCell(more: Partial<ProofCell> = {}): ProofCell {
  return {
    stage: '6-lua-release',
    scope: 'late-release',
    drill: 'late-release',
    says: 'A release is held up on its way, and must not harm the next holder.',
    verdict: 'holds',
    taught: 'holds',
    reason: 'No order of events violates it.',
    states: 276,
    schedules: 18_341,
    cut: 0,
    processes: 2,
    sales: 1,
    masters: 0,
    isSplit: false,
    budget: { delays: 1 },
    ms: 76.25,
    ...more,
  };
}

/** A counterexample of a few steps: a failover takes the lock away from A. */
export const failoverSteps: ProofCell['counterexample'] = [
  begins('A'),
  enters('A'),
  {
    at: 0,
    process: 'the server',
    kind: 'failover',
    command: 'fails, and its replica has not heard of the last command',
    told: [],
  },
  begins('B'),
  enters('B'),
];

function begins(process: string): ProofStep {
  return { at: 0, process, kind: 'begins', command: 'comes', told: [] };
}

function enters(process: string): ProofStep {
  const command = ['SET', 'lock', `${process}:1`, 'PX', 900, 'NX'];
  return {
    ...{ at: 0, process, kind: 'command', command: command.join(' '), reply: '"OK"' },
    sent: { server: 0, line: 'commands', command, hasChanged: true },
    input: { at: 0, chance: 0.1, type: 'reply', id: 1, reply: 'OK' },
    told: [{ at: 0, step: 'entered', sale: 1 }],
  };
}

/** One cell that holds, one that fails and one that is unknown. */
export function sampleProof(change: (proof: Proof) => void = () => {}): Proof {
  const proof: Proof = {
    format: 1,
    createdAt: '2026-11-22T10:15:00.000Z',
    command: 'npm run prove -- --stage 6,8',
    server: 'Valkey 9.1.1',
    verdict: 'unknown',
    verdictReasons: ['8-auto-renew late-write: unknown. 12 branches were cut at 4500 ms.'],
    cells: [
      sampleCell(),
      sampleCell({
        stage: '8-auto-renew',
        scope: 'failover',
        drill: 'failover',
        says: 'The server is replaced by a replica that has not heard of the last command.',
        verdict: 'fails',
        taught: 'fails',
        reason: 'A and B are inside at the same time.',
        states: 24,
        schedules: 0,
        budget: { failovers: 1 },
        replayed: 20,
        counterexample: failoverSteps,
      }),
      sampleCell({
        stage: '8-auto-renew',
        scope: 'late-write',
        drill: 'late-write',
        says: 'A write is held up until another sale has written.',
        verdict: 'unknown',
        taught: 'fails',
        reason: '12 branches were cut at 4500 ms.',
        states: 9_000,
        schedules: 0,
        cut: 12,
        processes: 3,
      }),
    ],
  };
  change(proof);
  return proofSchema.parse(proof);
}
