// The counterexamples in the chapters: each stands below the command that finds it.

import { basename, join } from 'node:path';
import { lockName } from '../../locks/index.ts';
import type { Cell } from '../../prove/cell.ts';
import { numbered } from '../../prove/words.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { type ProvableLock, provableLocks } from './plan.ts';
import type { Planned } from './prover.ts';

/** A built-in lock by its name, or one that is wrong on purpose by its file. */
const shown = /^`npm run prove -- (?:--stage )?(\S+) --scope (\S+) --processes 2`\n\n```text\n.*?^```\n/gms;

const stageOf = (name: string) => (name.endsWith('.ts') ? basename(name, '.ts') : lockName(name));

/** The cells whose counterexamples a chapter shows. Throws when it names a lock that can't be proved. */
export function cellsShownIn(chapter: string): Planned[] {
  return [...chapter.matchAll(shown)].map(([, stage = '', scope = '']) => {
    const own: ProvableLock = { stage: basename(stage, '.ts'), file: join(projectDir, stage), masters: 0 };
    const lock = stage.endsWith('.ts') ? own : provableLocks.find((each) => each.stage === lockName(stage));
    if (lock === undefined) throw new Error(`shows a counterexample of ${stage}, which can't be proved`);
    const { file, masters, isInBuckets, stage: name } = lock;
    const place = { file, masters, ...(isInBuckets && { isInBuckets }) };
    return { stage: name, ...place, scope, processes: 2, sales: 1, budget: {}, isSplit: false };
  });
}

/** The chapter with these counterexamples in the places of those that it shows. Throws when a cell does not fail. */
export function withCounterexamples(chapter: string, cells: Cell[]): string {
  return chapter.replace(shown, (block, stage: string, scope: string) => {
    const cell = cells.find((each) => each.stage === stageOf(stage) && each.scope === scope);
    if (cell?.counterexample === undefined)
      throw new Error(`shows a counterexample of ${stage} in ${scope}, which has none`);
    const [command = ''] = block.split('\n');
    return [command, '', '```text', cell.reason, '', ...numbered(cell.counterexample), '```', ''].join('\n');
  });
}
