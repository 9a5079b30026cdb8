import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { listDeep, readText } from '../lesson/project-files.ts';

const files = listDeep('locks').filter((file) => file.endsWith('.ts'));
const importsOf = (file: string) =>
  [...readText(file).matchAll(/ from '(\..+?)'/g)].map(([, path]) => join(dirname(file), path as string));

/** The files on a way of imports from `file` back to itself; empty when there is none. Types count as well. */
function circleFrom(file: string) {
  const wayTo = new Map(importsOf(file).map((imported) => [imported, [file, imported]]));
  for (const [imported, way] of wayTo) {
    if (imported === file) return way;
    for (const next of importsOf(imported)) if (!wayTo.has(next)) wayTo.set(next, [...way, next]);
  }
  return [];
}

test.each(files)('%s: imports no file that leads back to it', (file) => {
  expect(circleFrom(file)).toEqual([]);
});

test.each(files)('%s: opens with a sentence that says what it is', (file) => {
  expect(readText(file)).toMatch(/^(\/\/ [A-Z].*[^,]\n|\/\*\* [A-Z].*\. ?(\*\/)?\n|\/\*\*\n \* [A-Z])/);
});
