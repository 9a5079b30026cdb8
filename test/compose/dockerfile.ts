import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';

/** One `FROM … AS …` of the Dockerfile: `from` is an image, or the name of an earlier stage. */
export interface Stage {
  name: string;
  from: string;
  /** Its instructions, a line each. */
  lines: string[];
}

const text = readFileSync(join(projectDir, 'services/inventory/Dockerfile'), 'utf8').replaceAll(/ \\\n +/g, ' ');
export const stages = text
  .split(/^FROM /m)
  .slice(1)
  .map((stage): Stage => {
    const [first = '', ...lines] = stage.split('\n').filter((line) => /^[A-Za-z]/.test(line));
    const [from = '', name = ''] = first.split(' AS ');
    return { name, from, lines };
  });

/** The instructions that make the image of `target`, those of the stages it builds on first. */
function linesOf(target: string): string[] {
  const stage = stages.find(({ name }) => name === target);
  return stage === undefined ? [] : [...linesOf(stage.from), ...stage.lines];
}

/** What follows the last `start`, such as `CMD` or `COPY --from=packages`, that counts for `target`. */
export function lastOf(target: string, start: string): string {
  const line = linesOf(target).findLast((each) => each.startsWith(`${start} `));
  return line?.slice(start.length + 1) ?? '';
}

/** What is copied from the project into the image of `target`, as paths from the root of both. */
export function copiedInto(target: string): string[] {
  return linesOf(target)
    .filter((line) => /^COPY (?!--from=)/.test(line))
    .flatMap((line) => line.split(' ').slice(1, -1));
}
