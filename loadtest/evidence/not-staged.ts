// Why a drill proves nothing.

/**
 * A step that a drill needs did not happen, or the numbers do not add up: the verdict is `unknown`. `nothingToBreak`: it is the
 * lock that never takes this step. `isLate`: it may happen when the drill is run again.
 */
export class NotStagedError extends Error {
  readonly nothingToBreak: boolean;
  readonly isLate: boolean;

  constructor(message: string, { nothingToBreak = false, isLate = false } = {}) {
    super(message);
    this.nothingToBreak = nothingToBreak;
    this.isLate = isLate;
  }
}
