// The drills: what each asks and needs; and a scenario as it is.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drillsOf } from '../../loadtest/run/tracks.ts';
import { pagesAside, scenario } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { questionOfPage } from '../../loadtest/staircase/staircase.ts';
import { projectDir } from '../../stack/parts.ts';
import { capitalized, codeOf } from './markdown.ts';

const isLoad = (name: string) => drillsOf('locks').some((drill) => drill.name === name && drill.kind === 'load');
const linesOf = (name: string) => readFileSync(join(projectDir, `loadtest/scenarios/${name}.txt`), 'utf8').split('\n');

/** Every node of ours can hold a sale inside. */
const needsOf = (name: string) =>
  scenario(name)
    .needs.filter((need) => need !== 'business pause')
    .join(', ');

/** A line for each drill of the locks that is not a load. */
export function scenarios(): string {
  const names = [
    ...Object.keys(lockStaircase.columns).filter((name) => !isLoad(name)),
    ...pagesAside.map(({ name }) => name),
  ];
  const lineOf = (name: string) => {
    const needs = needsOf(name);
    return `- ${codeOf(name)}${needs && ` (${needs})`}: ${capitalized(questionOfPage(name))}`;
  };
  return names.map(lineOf).join('\n');
}

/** One whole scenario, as its file has it. */
export const wholeScenario = () => ['```text', ...linesOf('late-release').slice(0, -1), '```'].join('\n');
