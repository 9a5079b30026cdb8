/** A small bug that is put into a source file on purpose, and the tests that must notice it. */
export interface Mutation {
  /** In kebab-case. No two mutations share one. */
  name: string;
  /** The source file, from the project's folder. */
  file: string;
  /** The text that is replaced. It must occur exactly once in the file. */
  find: string;
  replace: string;
  /** What is wrong with it: one sentence. */
  why: string;
  /** The test files that must catch it. */
  tests: string[];
  /** Which of their tests, as `vitest -t` reads it. All of them when it is not given. */
  title?: string;
}

/** The source with the mutation in it. Throws unless the text to replace occurs exactly once. */
export function mutate(source: string, { file, find, replace }: Pick<Mutation, 'file' | 'find' | 'replace'>): string {
  const [before, after, ...more] = source.split(find);
  if (after === undefined) throw new Error(`${file} does not have the text ${JSON.stringify(find)}.`);
  if (more.length > 0) throw new Error(`${file} has the text ${JSON.stringify(find)} ${more.length + 1} times.`);
  return `${before}${replace}${after}`;
}
