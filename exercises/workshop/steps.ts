// A counterexample for people: who does what, and when, without the steps of the clock.

import type { Step } from '../../prove/state.ts';
import { tell } from '../../prove/words.ts';
import type { ShownStep } from './state.ts';

/** The steps as they are shown. The clock has its own column; what is repeated is counted. */
export function shownSteps(steps: Step[]): ShownStep[] {
  const hasSeveralSales = steps.some(({ told }) => told.some(({ sale }) => sale > 1));
  const shown: ShownStep[] = [];
  for (const [index, step] of steps.entries()) {
    const { at, process, kind, command, reply, told } = step;
    if (kind === 'clock') continue;
    // What the timer sets off comes next, and says it all.
    const next = steps[index + 1];
    if (kind === 'timer' && told.length === 0 && next?.process === process && next.at === at) continue;
    const came = told.map((one) => (hasSeveralSales ? `${tell(one)} (sale ${one.sale})` : tell(one))).join(', ');
    const made = { at, process, what: reply === undefined ? command : `${command} → ${reply}`, ...(came && { came }) };
    const last = shown.at(-1);
    if (last && isSame(last, made)) last.again = { times: (last.again?.times ?? 0) + 1, until: at };
    else shown.push(made);
  }
  return shown;
}

function isSame(one: ShownStep, other: ShownStep): boolean {
  return one.process === other.process && one.what === other.what && one.came === undefined && other.came === undefined;
}

/** When the last step happens, in milliseconds: what is violated is so from then on. */
export const endOf = (steps: Step[]) => steps.at(-1)?.at ?? 0;
