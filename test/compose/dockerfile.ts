import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';

export interface Instruction {
  name: string;
  text: string;
}

/** One `FROM … AS …` of the Dockerfile. */
export interface Stage {
  name: string;
  /** An image, or the name of an earlier stage. */
  from: string;
  instructions: Instruction[];
}

export const stages = readStages(readFileSync(join(projectDir, 'services/inventory/Dockerfile'), 'utf8'));

/** The instructions that make the image of `target`, those of the stages it builds on first. */
export function instructionsOf(target: string): Instruction[] {
  const stage = stages.find(({ name }) => name === target);
  return stage === undefined ? [] : [...instructionsOf(stage.from), ...stage.instructions];
}

/** What follows the last `start`, such as `CMD` or `COPY --from=packages`, that counts for `target`. */
export function lastOf(target: string, start: string): string {
  const lines = instructionsOf(target).map(({ name, text }) => `${name} ${text}`);
  return lines.findLast((line) => line.startsWith(`${start} `))?.slice(start.length + 1) ?? '';
}

/** What is copied from the project into the image of `target`, as paths from the root of both. */
export function copiedInto(target: string): string[] {
  return instructionsOf(target)
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(' ').slice(0, -1));
}

function readStages(text: string): Stage[] {
  const found: Stage[] = [];
  for (const line of text.replaceAll(/ \\\n +/g, ' ').split('\n')) {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) continue;
    const [, from, stage] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
    if (name === 'FROM') found.push({ name: stage ?? '', from: from ?? rest, instructions: [] });
    else found.at(-1)?.instructions.push({ name, text: rest });
  }
  return found;
}
