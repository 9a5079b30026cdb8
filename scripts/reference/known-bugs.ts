// The locks with a known bug, by what catches them, and the correct locks that look like them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';
import { codeOf, withoutPrefix } from './markdown.ts';

interface KnownBug {
  name: string;
  caughtBy: string;
  why: string;
}

/** What a file of test/known-bugs says of its locks. The first block says how to read it. */
function locksIn(file: string): KnownBug[] {
  const [, ...blocks] = readFileSync(join(projectDir, 'test/known-bugs', file), 'utf8').split('\n\n');
  return blocks.map((block) => {
    const [head = '', why = ''] = block.split('\n');
    const [name = '', , caughtBy = ''] = head.split(' · ');
    return { name, caughtBy, why };
  });
}

/** The bugs, those of one check beside each other: in the order in which the checks are first named. */
export function knownBugs(): string {
  const bugs = locksIn('bugs.txt');
  const checks = [...new Set(bugs.map(({ caughtBy }) => caughtBy))];
  return checks
    .flatMap((check) => bugs.filter(({ caughtBy }) => caughtBy === check))
    .map(({ name, caughtBy, why }) => `- ${codeOf(name)} (${withoutPrefix(caughtBy)}): ${why}`)
    .join('\n');
}

/** Correct locks that look as if they had a bug: what catches it finds nothing in them. */
export const twins = () =>
  locksIn('twins.txt')
    .map(({ name }) => codeOf(name))
    .join(', ');
