import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { editsIn, readBlocks } from '../edits.ts';
import type { Mutation } from './mutation.ts';

const folder = join(import.meta.dirname, 'catalogue');

/** Every mutation, area by area. */
export const catalogue: Mutation[] = readdirSync(folder).flatMap((area) =>
  readBlocks(join(folder, area)).map(mutationOf),
);

/** A block has the name and the file, what is wrong, the tests that must catch it, a title of theirs where it has one, and the change. */
function mutationOf([head = '', why = '', ...lines]: string[]): Mutation {
  const [name = '', file = ''] = head.split(' · ');
  const after = (word: string) => lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
  const [title] = after('titled ');
  const [edit] = editsIn(lines.filter((line) => /^[-+]/.test(line)));
  if (edit === undefined) throw new Error(`${name} changes nothing.`);
  return { name, file, why, ...edit, tests: after('by '), ...(title !== undefined && { title }) };
}
