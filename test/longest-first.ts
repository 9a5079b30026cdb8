// In which order the test files start: a long one that starts last keeps one CPU idle until it ends.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, longest first. Vitest knows how long a file takes only after its first run, and CI's machine is always new. */
const LONGEST = [
  'test/workshop/page/lesson.test.ts',
  'test/loadtest/conformance/wrong-locks.test.ts',
  'test/loadtest/conformance/conformance.test.ts',
  'test/scripts/judge.test.ts',
  'test/workshop/page.test.ts',
  'test/workshop/page/turn.test.ts',
  'test/known-bugs/known-bugs.test.ts',
  'test/loadtest/worlds/foreign/refusals.test.ts',
  'test/loadtest/grade/propose.test.ts',
];

const rankOf = ({ moduleId, project }: TestSpecification) => {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(file));
  return { group: project.config.sequence.groupOrder, rank: rank === -1 ? LONGEST.length : rank };
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    return sorted
      .map((file) => ({ file, ...rankOf(file) }))
      .toSorted((a, b) => a.group - b.group || a.rank - b.rank)
      .map(({ file }) => file);
  }
}
