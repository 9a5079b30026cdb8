// The generated parts of a page in docs/: from the code, the questions and the scenarios. Each stands below a marker that names it.

import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { reasoned } from '../../loadtest/narration/reasons.ts';
import { scenario } from '../../loadtest/scenarios/index.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { REAL_ONLY } from '../../loadtest/worlds/simulated/play.ts';
import { lockName } from '../../locks/index.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { projectDir } from '../../stack/parts.ts';
import { questionsOf } from './questions.ts';
import { sequenceOf } from './sequence.ts';
import { codeDiff } from './stage-diff.ts';
import { transcriptOf } from './transcript.ts';

const DIFF = /^```diff\n.*?^```\n/gms;
/** What to show: a stage's questions, a scenario under a lock up to a sentence, or a part of the reference. */
const PART = /<!-- (questions|sequence|transcript|reference): (\S+)(?: (\S+?))?(?:, to: (.+?))? -->.*?<!-- \/\1 -->/gs;

/** `last`: the last sentence to show, if the rest adds nothing. */
type Show<Of> = (of: Of, stage: string, last?: string) => string | Promise<string>;
/** Generates a part of the reference, as Markdown. */
export type ReferencePart = () => string | Promise<string>;

const shows: Record<string, Show<string>> = {
  questions: questionsOf,
  sequence: played(sequenceOf),
  transcript: played(transcriptOf),
};

/** The up-to-date content of a page in docs/. Throws if a required part is missing, or a marker names something unknown. */
export async function chapterNow(file: string, reference: Record<string, ReferencePart> = {}): Promise<string> {
  const chapter = readFileSync(join(projectDir, file), 'utf8');
  const stage = Number.parseInt(basename(file), 10);
  // The Chinese chapters quote single lines of the code instead.
  const isOfStage = dirname(file) === 'docs/learn' && stage > 0 && lockName(basename(file, '.md')) !== undefined;
  return withParts(isOfStage ? withDiff(chapter, codeDiff(stage)) : chapter, reference);
}

function withDiff(chapter: string, diff: string): string {
  const blocks = chapter.match(DIFF) ?? [];
  if (blocks.length !== 1) throw new Error(`There must be exactly one diff block, not ${blocks.length}.`);
  return chapter.replace(DIFF, () => `\`\`\`diff\n${diff}\`\`\`\n`);
}

/** Regenerates everything between the page's markers and their ends. Rejects for an unknown name. */
export async function withParts(chapter: string, reference: Record<string, ReferencePart> = {}): Promise<string> {
  const kinds: Record<string, Show<string>> = { ...shows, reference: (name) => referenceOf(name, reference) };
  for (const kind of Object.keys(kinds)) {
    const [opened, closed] = [`<!-- ${kind}: `, `<!-- /${kind} -->`].map((mark) => chapter.split(mark).length);
    if (opened !== closed) throw new Error(`Each <!-- ${kind}: … --> needs its <!-- /${kind} -->.`);
  }
  let now = chapter;
  for (const [part, kind = '', name = '', stage = '', last] of chapter.matchAll(PART)) {
    const opening = part.slice(0, part.indexOf('-->') + 3);
    const shown = await kinds[kind]?.(name, stage, last);
    now = now.replace(part, () => `${opening}\n\n${shown}\n\n<!-- /${kind} -->`);
  }
  return now;
}

function referenceOf(name: string, reference: Record<string, ReferencePart>) {
  const part = Object.hasOwn(reference, name) ? reference[name] : undefined;
  if (!part) throw new Error(`There is no part ${name} of the reference.`);
  return part();
}

function played(show: Show<Scenario>): Show<string> {
  return (name, stage, last) => {
    if (!isVirtual(stage)) throw new Error(`There is no lock ${stage} in simulated time.`);
    const whyNot = REAL_ONLY[name];
    if (whyNot) throw new Error(`${name} can't be played in simulated time: ${reasoned(whyNot)}`);
    return show(scenario(name), stage, last);
  };
}
