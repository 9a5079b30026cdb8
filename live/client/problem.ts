// What the server says when it refuses something.

import { texts } from '../texts/en.ts';

/** The sentence of a problem document, or one that names the status where there is no document. */
export async function problemIn(response: Response): Promise<string> {
  const problem: unknown = await response.json().catch(() => undefined);
  if (typeof problem === 'object' && problem !== null) {
    if ('detail' in problem && typeof problem.detail === 'string') return problem.detail;
    if ('code' in problem && typeof problem.code === 'string') return problem.code;
  }
  return texts.orders.refused(response.status);
}
