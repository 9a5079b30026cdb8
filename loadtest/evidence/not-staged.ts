// The error of a drill that proves nothing.

/**
 * A step that a drill needs did not happen, or the numbers do not add up: the verdict is `unknown`. `nothingToBreak`: it is the
 * lock that never takes this step.
 */
export class NotStagedError extends Error {
  readonly nothingToBreak: boolean;

  constructor(message: string, { nothingToBreak = false } = {}) {
    super(message);
    this.nothingToBreak = nothingToBreak;
  }
}
