// The drills: what each asks, when a lock holds in it and what it needs; a scenario as it is; and the sentences that one may have.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drillsOf } from '../../loadtest/run/tracks.ts';
import { pagesAside, scenario } from '../../loadtest/scenarios/index.ts';
import { ofLocks } from '../../loadtest/sentences/vocabulary.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { orderStaircases } from '../../loadtest/staircase/lookup.ts';
import { questionOfPage } from '../../loadtest/staircase/staircase.ts';
import { projectDir } from '../../stack/parts.ts';
import { capitalized, codeOf, tableOf } from './markdown.ts';

const HOLDS = 'holds when ';
const isLoad = (name: string) => drillsOf('locks').some((drill) => drill.name === name && drill.kind === 'load');
const linesOf = (name: string) => readFileSync(join(projectDir, `loadtest/scenarios/${name}.txt`), 'utf8').split('\n');

/** Every node of ours can hold a sale inside. */
const needsOf = (name: string) =>
  scenario(name)
    .needs.filter((need) => need !== 'business pause')
    .join(', ');

/** A row for each drill of the locks that is not a load. */
export function scenarios(): string {
  const names = [
    ...Object.keys(lockStaircase.columns).filter((name) => !isLoad(name)),
    ...pagesAside.map(({ name }) => name),
  ];
  const rows = names.map((name) => {
    const conditions = linesOf(name).filter((line) => line.startsWith(HOLDS));
    const holds = [...new Set(conditions)].map((line) => line.slice(HOLDS.length)).join('; ');
    return [codeOf(name), capitalized(questionOfPage(name)), holds, needsOf(name)];
  });
  return tableOf(['scenario', 'asks', 'holds when', 'needs'], rows);
}

export function orderScenarios(): string {
  const rows = orderStaircases.flatMap(({ columns }) =>
    Object.entries(columns).map(([name, { asks }]) => [codeOf(name), capitalized(asks)]),
  );
  return tableOf(['scenario', 'asks'], rows);
}

/** One whole scenario, as its file has it. */
export const wholeScenario = () => ['```text', ...linesOf('late-release').slice(0, -1), '```'].join('\n');

/** Every sentence of a step, with its gaps. */
export const sentences = () => ['```text', ...ofLocks.steps.map(({ form }) => form), '```'].join('\n');
