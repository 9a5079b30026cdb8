// Whether several runs of the bench agree: the ratios of their bench.json files, side by side.

import { countOf } from '../evidence/numbers.ts';
import type { BenchResults } from './results.ts';
import { describeSpinners, formatApart, formatRatio, renderSheet } from './table.ts';

/** Runs agree on a ratio when the highest is above the lowest by no more than this share. */
const APART_AT_MOST = 0.2;

export interface Agreement {
  /** The ratio. */
  name: string;
  /** Its value in each run; undefined where it was not measured. */
  values: (number | undefined)[];
  /** Undefined when fewer than two runs measured it. */
  doAgree: boolean | undefined;
}

/** A row for each ratio that any of the runs has measured. */
export function agreementOf(runs: Pick<BenchResults, 'ratios'>[]): Agreement[] {
  const names = new Set(runs.flatMap(({ ratios }) => Object.keys(ratios)));
  return [...names].map((name) => {
    const values = runs.map(({ ratios }) => ratios[name]?.value);
    const [lowest, highest, measured] = boundsOf(values);
    return { name, values, doAgree: measured < 2 ? undefined : highest <= (1 + APART_AT_MOST) * lowest };
  });
}

/** The ratios of several runs, as text for a terminal. */
export function renderAgreement(runs: BenchResults[]): string {
  const agreements = agreementOf(runs);
  const described = runs.map(({ startedAt, command, settings }, index) => {
    return `run ${index + 1}: ${startedAt}, ${command}, CPUs kept awake: ${describeSpinners(settings)}`;
  });
  const rows = agreements.map(({ name, values, doAgree }) => {
    const [lowest, highest] = boundsOf(values);
    const apart = doAgree === undefined ? ['', ''] : [formatApart(lowest, highest), doAgree ? '✔' : '✘'];
    return [name, ...values.map((value) => (value === undefined ? '–' : formatRatio(value))), ...apart];
  });
  const head = ['ratio', ...runs.map((_, index) => `run ${index + 1}`), 'apart', ''];
  const compared = agreements.filter(({ doAgree }) => doAgree !== undefined);
  const agreed = compared.filter(({ doAgree }) => doAgree);
  const title = `${agreed.length} of ${countOf(compared.length, 'ratio')} within ${100 * APART_AT_MOST} %.`;
  return [...described, renderSheet({ title, head, rows })].join('\n');
}

function boundsOf(values: (number | undefined)[]): [lowest: number, highest: number, measured: number] {
  const measured = values.flatMap((value) => value ?? []);
  return [Math.min(...measured), Math.max(...measured), measured.length];
}
