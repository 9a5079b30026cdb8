// Reads a scenario: a fault as a page of sentences. What the sentences do stands in sentences.ts, when the lock holds in demands.ts.

import type { LockTiming } from '../../services/inventory/lab/contract.ts';
import type { Need } from '../harness/target.ts';
import { basketDemands, basketSteps } from './baskets.ts';
import { buyerDemands, buyerSteps } from './buyers.ts';
import { type Demand, demands } from './demands.ts';
import { lookDemands, lookSteps } from './looks.ts';
import { masterDemands, masterSteps } from './masters.ts';
import { outageDemands, outageSteps } from './outages.ts';
import { queueDemands, queueSteps } from './queues.ts';
import { meaningOf } from './sentence.ts';
import { type Step, steps } from './sentences.ts';

const allSteps = [steps, basketSteps, buyerSteps, lookSteps, masterSteps, outageSteps, queueSteps].flat();
const allDemands = [
  demands,
  basketDemands,
  buyerDemands,
  lookDemands,
  masterDemands,
  outageDemands,
  queueDemands,
].flat();

/** What is said of a verdict, besides the figures: why it holds, fails, and holds because everybody waited or the first was refused. */
const endings = ['if it holds', 'if it fails', 'if all waited', 'if A is refused'] as const;
export type Ending = (typeof endings)[number];

export interface Page {
  /** The column of the staircase. */
  name: string;
  /** What it asks. */
  question: string;
  /** What it takes to stage the fault, besides two nodes. */
  needs: Need[];
  /** What it needs of the lock's timing, in milliseconds, whatever lease was asked for; and the units in stock. */
  timing: LockTiming;
  stock?: number;
  /** Each with what must be so when it has been taken: a lock that fails this goes no further. */
  steps: (Step & { line: string; endsParagraph: boolean; demands: Demand[] })[];
  words: Partial<Record<Ending, string>>;
}

/** A page that can't be read: the message names the line, and the nearest sentence that is known. */
export class PageError extends Error {}

/**
 * Reads a page: its name, what it asks, its steps and when it holds. A `#` begins a comment, a `>` what is told to the audience. A
 * paragraph ends where nothing depends on how long one talks. Throws PageError.
 */
export function readPage(text: string): Page {
  const lines = text.split('\n').map((line) => line.trim());
  const isBlank = (at: number) => lines.slice(at).find((line) => !line.startsWith('#')) === '';
  const [name = '', question = ''] = lines;
  const page: Page = { name, question, needs: [], timing: {}, steps: [], words: {} };
  lines.forEach((line, index) => {
    if (index < 2 || line === '' || line.startsWith('#')) return;
    try {
      const ending = endings.find((each) => line.startsWith(`${each}: `));
      if (ending !== undefined) page.words[ending] = line.slice(ending.length + 2);
      else if (line.startsWith('holds when '))
        page.steps.at(-1)?.demands.push(meaningOf(line.slice('holds when '.length), allDemands));
      else page.steps.push({ ...meaningOf(line, allSteps), line, endsParagraph: isBlank(index + 1), demands: [] });
    } catch (error) {
      throw new PageError(`${name}, line ${index + 1}: ${(error as Error).message}`);
    }
  });
  if (!page.steps.at(-1)?.demands.length) throw new PageError(`${name}: it does not say when it holds.`);
  for (const { needs = [], timing, stock } of page.steps) {
    page.needs.push(...needs.filter((need) => !page.needs.includes(need)));
    Object.assign(page, { timing: { ...page.timing, ...timing } }, stock !== undefined && { stock });
  }
  return page;
}
