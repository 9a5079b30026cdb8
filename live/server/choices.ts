// What a presenter can choose from: the stages with their code, and the drills that can break them.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diffLines } from 'diff';
import type { Drill } from '../../loadtest/harness/drill.ts';
import { readStory } from '../../loadtest/report/story.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/locks.ts';
import { columnOf, hasNothingToBreak, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { PresenterParts } from '../contract.ts';
import type { Questions } from '../questions.ts';

export interface StageChoice {
  name: string;
  title: string;
  /** The problem that it solves and what it leaves, as its file says. */
  problem: string;
  change: string;
  leaves: string;
  /** The row before it, if there is one. */
  before?: string;
  code: string;
  /** Its lines against those of the row before: `+`, `-` or a blank first. */
  diff?: string[];
  /** The drills that can be played under it, each with what the staircase says. */
  drills: { name: string; asks: string; taught: 'pass' | 'fail' | null; kind: 'load' | 'steps' }[];
}

/** What can be played on real servers, and asked about: the rows of the staircase of the locks, in their order. */
export const playChoices = (questions: Questions): PresenterParts['choices'] =>
  stageChoices().map(({ name: stage, title, drills }) => ({
    ...{ stage, title, drills: drills.map(({ name }) => name) },
    asked: questions[stage]?.map(({ drill }) => drill) ?? [],
  }));

/** The rows of the staircase of the locks, in their order. */
export function stageChoices(): StageChoice[] {
  return Object.entries(lockStaircase.rows).map(([name, { title, before, story }]) => {
    const { problem = '', change = '', leaves = '' } = readStory(name) ?? {};
    const code = readCode(story);
    const codeBefore = readCode(before === undefined ? undefined : lockStaircase.rows[before]?.story);
    return {
      name,
      title,
      problem,
      change,
      leaves,
      ...(before !== undefined && { before }),
      code,
      ...(codeBefore !== '' && { diff: markedLines(codeBefore, code) }),
      drills: drillsUnder(name).map((drill) => ({
        name: drill.name,
        asks: columnOf(drill.name)?.asks ?? '',
        taught: taughtVerdict(name, drill.name),
        kind: drill.kind,
      })),
    };
  });
}

/** The drills that have something to break under this stage. */
export function drillsUnder(stage: string): Drill[] {
  return drills.filter(({ name }) => !hasNothingToBreak(stage, name));
}

function readCode(file: string | undefined): string {
  const path = file === undefined ? undefined : join(projectDir, file);
  return path !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** All lines of both, each after a `+`, a `-` or a blank. */
export function markedLines(before: string, after: string): string[] {
  return diffLines(before, after).flatMap(({ value, added, removed }) => {
    const mark = added ? '+' : removed ? '-' : ' ';
    const lines = value.replace(/\n$/, '').split('\n');
    return lines.map((line) => `${mark}${line}`);
  });
}
