// npm run grade -- --libraries --markdown: what each published lock does in each check, as one table.

import { availableParallelism } from 'node:os';
import { SEEDED_ORDERS } from '../conformance/orders.ts';
import type { Verdict } from '../evidence/results.ts';
import { sourcesOf } from '../grade/external-locks.ts';
import type { Library } from '../grade/libraries.ts';
import { usualSettings } from '../virtual/play.ts';
import { openVirtualWorld } from '../virtual/world.ts';

const signs: Record<Verdict, string> = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

/** Puts these locks through these checks and through seeded orders. Resolves with a row for each check, a column for each lock, and a date. */
export async function libraryTable(libraries: Library[], checks: string[]): Promise<string> {
  const names = [...checks, SEEDED_ORDERS];
  const world = openVirtualWorld({ settings: usualSettings, locks: sourcesOf(libraries) });
  const cells = names.flatMap((name) => libraries.map(({ stage }) => ({ stage, drill: { name } })));
  const found = new Map<string, string>();
  const left = [...cells];
  async function work(place: number) {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      const { outcome } = await world.play(cell, {}, place);
      found.set(`${cell.stage} ${cell.drill.name}`, signs[outcome.verdict]);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, (_, place) => work(place)));
  world.close();
  const rowOf = (name: string) => libraries.map(({ stage }) => found.get(`${stage} ${name}`) ?? '?');
  const lines = [
    ['check', ...libraries.map(({ stage }) => stage)],
    ['---', ...libraries.map(() => ':-:')],
    ...names.map((name) => [`\`${name}\``, ...rowOf(name)]),
  ];
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const under = `_From a run on ${day}, in virtual time, with Node ${process.versions.node}._`;
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n${under}\n`;
}
