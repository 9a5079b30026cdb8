// npm run grade -- --libraries --markdown: what each published lock does in each check, as one table.

import { availableParallelism } from 'node:os';
import { SEEDED_ORDERS } from '../conformance/orders.ts';
import type { Grade, Verdict } from '../evidence/results.ts';
import { sourcesOf } from '../grade/external-locks.ts';
import type { Library } from '../grade/libraries.ts';
import { signs } from '../report/marks.ts';
import { usualSettings } from '../virtual/play.ts';
import { openVirtualWorld } from '../virtual/world.ts';
import { startProgressLine } from './progress-line.ts';

/** A promise that the library does not make. */
const NOT_PROMISED = '(✘)';

/** Puts these locks through these checks and through seeded orders. Resolves with a row for each check, a column for each lock, and a date. */
export async function libraryTable(libraries: Library[], checks: string[]): Promise<string> {
  const names = [...checks, SEEDED_ORDERS];
  const world = openVirtualWorld({ settings: usualSettings, locks: sourcesOf(libraries) });
  const cells = names.flatMap((name) => libraries.map(({ stage }) => ({ stage, drill: { name } })));
  const found = new Map<string, Verdict>();
  const left = [...cells];
  const progress = startProgressLine(cells.length);
  async function work(place: number) {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      const { outcome } = await world.play(cell, {}, place);
      const name = `${cell.stage} ${cell.drill.name}`;
      found.set(name, outcome.verdict);
      progress.advance(name);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, (_, place) => work(place)));
  progress.end();
  world.close();
  function signOf({ stage, doesNotPromise = {} }: Grade, name: string): string {
    const verdict = found.get(`${stage} ${name}`) ?? 'unknown';
    return verdict === 'fail' && doesNotPromise[name] ? NOT_PROMISED : signs[verdict];
  }
  const lines = [
    ['check', ...libraries.map(({ stage }) => stage)],
    ['---', ...libraries.map(() => ':-:')],
    ...names.map((name) => [`\`${name}\``, ...libraries.map((library) => signOf(library, name))]),
  ];
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const under = `_From a run on ${day}, in virtual time, with Node ${process.versions.node}._`;
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n${under}\n`;
}
