import { afterAll, beforeAll } from 'vitest';
import type { Target } from '../../../loadtest/harness/target.ts';
import type { Backend } from '../../../locks/index.ts';
import { openTarget } from '../../loadtest/drills/own-targets.ts';

/** A stack for the tests of one file. Each leaves it as it was. */
export function ownTarget(needed: Backend[] = []): () => Target {
  let target: Target;
  beforeAll(async () => {
    target = await openTarget(undefined, needed);
  });
  afterAll(() => target?.close());
  return () => target;
}
