// What a page of docs/ shows of the code, of the questions and of the scenarios: it is made of them. A marker names it, and it stands below.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { reasoned } from '../../loadtest/narration/reasons.ts';
import { scenario } from '../../loadtest/scenarios/index.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { REAL_ONLY } from '../../loadtest/worlds/simulated/play.ts';
import { lockName } from '../../locks/index.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { projectDir } from '../../stack/parts.ts';
import { questionsOf } from './questions.ts';
import { sequenceOf } from './sequence.ts';
import { stageDiff } from './stage-diff.ts';
import { transcriptOf } from './transcript.ts';

const DIFF = /^```diff\n.*?^```\n/gms;
/** What to show: the questions of a stage, a playing of a scenario under a lock and up to which sentence, or a part of a reference. */
const PART = /<!-- (questions|sequence|transcript|reference): (\S+)(?: (\S+?))?(?:, to: (.+?))? -->.*?<!-- \/\1 -->/gs;

/** `last`: the last sentence that is shown, if the rest says no more. */
type Show<Of> = (of: Of, stage: string, last?: string) => string | Promise<string>;
/** Makes a part of a reference, as Markdown. */
export type ReferencePart = () => string | Promise<string>;

const shows: Record<string, Show<string>> = {
  questions: questionsOf,
  sequence: played(sequenceOf),
  transcript: played(transcriptOf),
};

/** A page of docs/ as it should be now. Throws when it has not what its kind must have, or names what is not there. */
export async function chapterNow(file: string, reference: Record<string, ReferencePart> = {}): Promise<string> {
  const chapter = readFileSync(join(projectDir, file), 'utf8');
  const stage = Number.parseInt(basename(file), 10);
  const isOfStage = stage > 0 && lockName(basename(file, '.md')) !== undefined;
  return withParts(isOfStage ? withDiff(chapter, stageDiff(stage)) : chapter, reference);
}

function withDiff(chapter: string, diff: string): string {
  const blocks = chapter.match(DIFF) ?? [];
  if (blocks.length !== 1) throw new Error(`There are ${blocks.length} diff blocks, and there must be one.`);
  return chapter.replace(DIFF, () => `\`\`\`diff\n${diff}\`\`\`\n`);
}

/** The page with what its markers name. What stands between a marker and its end is made anew. Rejects for a name that is none. */
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
    if (!isVirtual(stage)) throw new Error(`There is no lock ${stage} in virtual time.`);
    const whyNot = REAL_ONLY[name];
    if (whyNot) throw new Error(`${name} can't be played in simulated time: ${reasoned(whyNot)}`);
    return show(scenario(name), stage, last);
  };
}
