// The lines of a stage's file, each with what became of it since the stage before.

import type { StageChoice } from '../contract.ts';

export interface CodeLine {
  is: 'added' | 'removed' | 'kept';
  text: string;
}

const signs: Record<string, CodeLine['is']> = { '+': 'added', '-': 'removed' };

/** The lines that open a file: the page shows them above the code. */
const STORY = /^\/\/ (Stage|Beyond|Problem|Change|Leaves)\b/;

/** The diff to the stage before where there is one, else the file as it is: from the first line after the story on. */
export function codeLines({ code, diff }: Pick<StageChoice, 'code' | 'diff'>): CodeLine[] {
  const lines = diff?.map(diffLine) ?? code.trimEnd().split('\n').map(keptLine);
  const first = lines.findIndex(({ text }) => text.trim() !== '' && !STORY.test(text));
  return first < 0 ? [] : lines.slice(first);
}

function diffLine(line: string): CodeLine {
  return { is: signs[line.charAt(0)] ?? 'kept', text: line.slice(1) };
}

function keptLine(text: string): CodeLine {
  return { is: 'kept', text };
}
