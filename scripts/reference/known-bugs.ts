// The locks with a known bug, by what catches them, and the correct locks that look like them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';
import { codeOf } from './markdown.ts';

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

const lineOf = ({ name, why }: KnownBug) => `- ${codeOf(name)}: ${why}`;

export function knownBugs(): string {
  const bugs = locksIn('bugs.txt');
  const sections = [...new Set(bugs.map(({ caughtBy }) => caughtBy))].map((caughtBy) => {
    const caught = bugs.filter((bug) => bug.caughtBy === caughtBy);
    return [`${codeOf(caughtBy)}:`, caught.map(lineOf).join('\n')].join('\n\n');
  });
  return sections.join('\n\n');
}

/** What catches the bug finds nothing in them. */
export function twins(): string {
  return locksIn('twins.txt')
    .map((twin) => `${lineOf(twin)} It passes ${codeOf(twin.caughtBy)}.`)
    .join('\n');
}
