// The lines of a stage's file, each with what became of it since the stage before.

import type { StageChoice } from '../contract.ts';

export interface CodeLine {
  is: 'added' | 'removed' | 'kept';
  text: string;
}

const signs: Record<string, CodeLine['is']> = { '+': 'added', '-': 'removed' };

/** The diff to the stage before where there is one, else the file as it is. */
export function codeLines({ code, diff }: Pick<StageChoice, 'code' | 'diff'>): CodeLine[] {
  if (diff === undefined) {
    return code
      .trimEnd()
      .split('\n')
      .map((text) => ({ is: 'kept', text }));
  }
  return diff.map((line) => ({ is: signs[line.charAt(0)] ?? 'kept', text: line.slice(1) }));
}
