// npm run mutations -- --generated: mutants of the built-in locks, and what the checks and drills say of them.

import Table from 'cli-table3';
import { countOf, formatDuration } from '../../../loadtest/narration/numbers.ts';
import { startProgressLine } from '../../../loadtest/run/progress-line.ts';
import { type Candidate, type Class, candidatesOf, type Judged, judgeMutants } from './judge-mutants.ts';

export interface GeneratedOptions {
  locks: string[];
  /** How many of the mutants, at random. */
  sample: number;
  seed: number;
}

const classes: Class[] = ['caught', 'missed', 'accused', 'alike', 'not loaded', 'not judged'];

/** Judges them, and prints those that are missed or accused, and a table. Resolves with all that were judged. */
export async function runGenerated({ locks, sample, seed }: GeneratedOptions, signal: AbortSignal): Promise<Judged[]> {
  const startedAt = performance.now();
  const candidates = candidatesOf(locks, sample, seed);
  process.stdout.write(`${countOf(candidates.length, 'mutant')}, seed ${seed}.\n`);
  const progress = startProgressLine(candidates.length);
  const all: Judged[] = [];
  await judgeMutants(candidates, signal, (judged) => {
    all.push(judged);
    progress.advance(placeOf(judged.candidate));
    if (judged.is === 'missed' || judged.is === 'accused') {
      progress.end();
      process.stdout.write(`${tellOf(judged)}\n`);
    }
  });
  progress.end();
  process.stdout.write(`${tableOf(all)}\n${formatDuration(Math.round(performance.now() - startedAt))}\n`);
  return all;
}

const placeOf = ({ lock, file, line }: Candidate) => `${lock}: ${file}:${line}`;

function tellOf({ candidate, is, difference, caughtBy }: Judged) {
  const { kind, change } = candidate;
  const scene = difference && `In the scene (${difference.family}, seed ${difference.seed}): ${difference.what}.`;
  const check = caughtBy && `${caughtBy.name}: ${caughtBy.reason}`;
  return [`${is}  ${placeOf(candidate)}`, `${kind}: ${change}`, scene, check].filter(Boolean).join('\n  ');
}

/** A row for each file, with how many of its mutants are in each class. */
export function tableOf(all: Judged[]): string {
  const table = new Table({ head: ['lock', 'file', 'mutants', ...classes], style: { head: [], border: [] } });
  const rowOf = (judged: Judged[]) => [
    judged.length,
    ...classes.map((name) => judged.filter(({ is }) => is === name).length),
  ];
  const files = new Set(all.map(({ candidate: { lock, file } }) => `${lock} ${file}`));
  for (const name of [...files].toSorted()) {
    const [lock = '', file = ''] = name.split(' ');
    table.push([lock, file, ...rowOf(all.filter(({ candidate }) => candidate.file === file))]);
  }
  table.push(['all', '', ...rowOf(all)]);
  return table.toString();
}
