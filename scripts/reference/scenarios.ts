// The drills: what each asks; and a scenario as it is.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drillsOf } from '../../loadtest/run/tracks.ts';
import { pagesAside } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { questionOfPage } from '../../loadtest/staircase/staircase.ts';
import { projectDir } from '../../stack/parts.ts';
import { capitalized, codeOf } from './markdown.ts';

const isLoad = (name: string) => drillsOf('locks').some((drill) => drill.name === name && drill.kind === 'load');
const linesOf = (name: string) => readFileSync(join(projectDir, `loadtest/scenarios/${name}.txt`), 'utf8').split('\n');

/** A line for each drill of the locks that is not a load. */
export function scenarios(): string {
  const names = [
    ...Object.keys(lockStaircase.columns).filter((name) => !isLoad(name)),
    ...pagesAside.map(({ name }) => name),
  ];
  return names.map((name) => `- ${codeOf(name)}: ${capitalized(questionOfPage(name))}`).join('\n');
}

/** One whole scenario, as its file has it. */
export const wholeScenario = () => ['```text', ...linesOf('late-release').slice(0, -1), '```'].join('\n');
