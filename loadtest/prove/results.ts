// What a run of the search concludes, and how it writes it down.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cell } from '../../prove/cell.ts';
import { versionIn } from '../../services/inventory/redis-info.ts';
import { openValkey } from '../../virtual/valkey.ts';
import { PROOF_FILE, type Proof, type ProofCell, proofSchema } from '../evidence/proof.ts';
import type { Machine } from '../evidence/results.ts';
import { columnNames } from '../staircase/lookup.ts';
import { renderProofPage } from './page.ts';
import { expectedVerdict } from './plan.ts';

export interface ProofParts {
  /** The command that repeats it. */
  command: string;
  createdAt: Date;
  machine?: Machine;
  /** A cell as the search found it, and what became of its counterexample on a server of its own. */
  cells: (Cell & Pick<ProofCell, 'onRedis'>)[];
}

/** What the cells say together: for each the drill of its name, and whether all is as expected. */
export async function proofOf({ command, createdAt, machine, cells }: ProofParts): Promise<Proof> {
  const known = cells.map((cell) => ({ ...cell, drill: drillOf(cell), taught: taughtOf(cell) }));
  return proofSchema.parse({
    format: 1,
    createdAt: createdAt.toISOString(),
    durationMs: Math.max(0, Date.now() - createdAt.getTime()),
    ...(machine && { machine }),
    command,
    server: await nameOfServer(),
    ...judgeProof(known),
    cells: known,
  });
}

/** Writes `prove.json` and `report.html` into `dir`, which is made when it is missing. */
export async function writeProof(proof: Proof, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  await Promise.all([
    writeFile(join(dir, PROOF_FILE), `${JSON.stringify(proofSchema.parse(proof), null, 2)}\n`),
    writeFile(join(dir, 'report.html'), await renderProofPage(proof)),
  ]);
}

const drillOf = ({ scope }: Cell) => (columnNames.includes(scope) ? scope : null);

const taughtOf = ({ stage, scope }: Cell): ProofCell['taught'] => expectedVerdict(stage, scope) ?? null;

type Judged = Pick<ProofCell, 'stage' | 'scope' | 'verdict' | 'taught' | 'reason'>;

/**
 * Not as expected when one cell is not; unknown when nothing is known. A cell of which not every order was looked at contradicts nothing:
 * the reasons name it.
 */
export function judgeProof(cells: Judged[]): Pick<Proof, 'verdict' | 'verdictReasons'> {
  const open = cells.filter(({ verdict }) => verdict === 'unknown');
  const off = cells.filter(({ verdict, taught }) => verdict !== 'unknown' && taught !== null && verdict !== taught);
  return {
    verdict: off.length > 0 ? 'not-as-taught' : open.length === cells.length ? 'unknown' : 'as-taught',
    verdictReasons: [
      ...off.map(({ stage, scope, verdict, taught }) => `${stage} ${scope}: it ${verdict}, but ${taught} is taught.`),
      ...open.map(({ stage, scope, reason }) => `${stage} ${scope}: unknown. ${reason}`),
    ],
  };
}

async function nameOfServer(): Promise<string> {
  const { reply } = (await openValkey()).run(0, ['INFO', 'server']);
  return `Valkey ${versionIn(String(reply)) ?? 'of an unknown version'}`;
}
