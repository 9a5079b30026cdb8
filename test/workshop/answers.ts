import type { DrillResult } from '../../loadtest/evidence/results.ts';
import type { Question } from '../../workshop/server/questions.ts';

/** Whether a drill came out as an answer says: its verdict, and each figure that it names. */
export function isSo(
  { verdict, figures = {} }: Question['answers'][number],
  result: Pick<DrillResult, 'verdict' | 'figures'>,
): boolean {
  const measured = (result.figures ?? {}) as Record<string, unknown>;
  return (
    result.verdict === verdict &&
    Object.entries(figures).every(([name, said]) => {
      const figure = measured[name];
      if (typeof figure !== 'number') return false;
      if (typeof said === 'number') return figure === said;
      return figure >= (said.min ?? -Infinity) && figure <= (said.max ?? Infinity);
    })
  );
}
