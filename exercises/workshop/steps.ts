// A counterexample for people: who does what, and when, without the steps of the clock.

import { listOf } from '../../loadtest/evidence/numbers.ts';
import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';
import { tell } from '../../prove/words.ts';

export interface ShownStep {
  /** When, in milliseconds of virtual time. */
  at: number;
  process: string;
  what: string;
  /** What came of it, such as `is inside`. */
  came?: string;
  /** It was repeated so often more, the last time then. */
  again?: { times: number; until: number };
}

type Shortest = Pick<Cell, 'counterexample' | 'sales' | 'isAtOnce'>;

/** The counterexample as it is shown. The clock has its own column; what is repeated is counted. */
export function shownSteps({ counterexample: steps = [], sales, isAtOnce = false }: Shortest): ShownStep[] {
  const hasManyAtOnce = isAtOnce && sales > 1;
  const hasSeveralSales = hasManyAtOnce || steps.some(({ told }) => told.some(({ sale }) => sale > 1));
  const shown: ShownStep[] = [];
  for (const [index, step] of steps.entries()) {
    const { at, process, kind, command, reply, told } = step;
    if (kind === 'clock') continue;
    // What the timer sets off comes next, and says it all.
    const next = steps[index + 1];
    if (kind === 'timer' && told.length === 0 && next?.process === process && next.at === at) continue;
    const came = hasSeveralSales ? tellSales(told) : told.map(tell).join(', ');
    const did = kind === 'begins' && hasManyAtOnce ? `begins ${sales} sales at once` : command;
    const made = { at, process, what: reply === undefined ? did : `${did} → ${reply}`, ...(came && { came }) };
    const last = shown.at(-1);
    if (last && isSame(last, made)) last.again = { times: (last.again?.times ?? 0) + 1, until: at };
    else shown.push(made);
  }
  return shown;
}

/** What came of a step, where a process makes several sales: each is told by its number, once where they are alike. */
function tellSales(told: Step['told']): string {
  const [first] = told;
  if (first && told.every(({ sale }) => sale === first.sale))
    return `${told.map(tell).join(', ')} (${namesOf([first.sale])})`;
  const said: { what: string; sales: number[] }[] = [];
  for (const one of told) {
    const what = tell(one);
    if (said.at(-1)?.what === what) said.at(-1)?.sales.push(one.sale);
    else said.push({ what, sales: [one.sale] });
  }
  return said.map(({ what, sales }) => `${what} (${namesOf(sales)})`).join(', ');
}

const namesOf = (sales: number[]) => `${sales.length === 1 ? 'sale' : 'sales'} ${listOf(sales.map(String))}`;

/** Why the lock fails, as a sentence. Where a process makes several sales it says which of them wait for ever. */
export function reasonOf({ reason, counterexample = [], sales, isAtOnce = false }: Cell): string {
  const name = /^(.*) waits for ever\.$/.exec(reason)?.[1];
  if (name === undefined || !isAtOnce || sales === 1) return reason;
  const told = counterexample.filter(({ process }) => process === name).flatMap(({ told }) => told);
  const hasEnded = (sale: number) =>
    told.some((one) => one.sale === sale && (one.step === 'released' || one.step === 'failed'));
  const waiting = Array.from({ length: sales }, (_, at) => at + 1).filter((sale) => !hasEnded(sale));
  return `${name} waits for ever: ${namesOf(waiting)} ${waiting.length === 1 ? 'never ends' : 'never end'}.`;
}

function isSame(one: ShownStep, other: ShownStep): boolean {
  return one.process === other.process && one.what === other.what && one.came === undefined && other.came === undefined;
}

/** When the last step happens, in milliseconds: what is violated is so from then on. */
export const endOf = (steps: Step[]) => steps.at(-1)?.at ?? 0;
