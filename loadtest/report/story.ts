import { existsSync, readFileSync } from 'node:fs';
import { isGuest } from '../staircase.ts';

/** The lines that open a stage's file. */
export interface Story {
  problem: string;
  change: string;
  leaves: string;
}

/** The story of a stage, read from its file in `locks/` or `locks/beyond/`. Undefined when no file tells it. */
export function readStory(stage: string): Story | undefined {
  if (!/^[\w-]+$/.test(stage)) return undefined;
  const file = ['', 'beyond/']
    .map((folder) => new URL(`../../locks/${folder}${stage}.ts`, import.meta.url))
    .find((url) => existsSync(url));
  if (file === undefined) return undefined;
  const source = readFileSync(file, 'utf8');
  const [problem, change, leaves] = ['Problem', 'Change', 'Leaves'].map(
    (name) => source.match(new RegExp(`^// ${name}: *(.+)$`, 'm'))?.[1],
  );
  if (problem === undefined || change === undefined || leaves === undefined) return undefined;
  return { problem, change, leaves };
}

/** `4-ttl` as `Stage 4 · ttl`. What has no number is beyond the stages; what is none of ours keeps its name. */
export function stageTitle(stage: string): string {
  const [, number, name] = stage.match(/^(\d+)-(.+)$/) ?? [];
  if (isGuest(stage)) return stage;
  return number === undefined ? `Beyond · ${stage}` : `Stage ${number} · ${name}`;
}
