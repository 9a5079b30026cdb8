// The present of a process, shared by all parts of its world.

export type Moment = ReturnType<typeof createMoment>;

export function createMoment() {
  let lastId = 0;
  let refusal: string | undefined;
  return {
    /** In milliseconds. */
    now: 0,
    /** The sale that is at work since something has happened: its step, its timer or an answer to it. */
    sale: undefined as string | undefined,
    /** The number of the next command, timer or identifier. */
    nextId() {
      lastId += 1;
      return lastId;
    },
    /** The lock has used what it may not use. */
    refuse(what: string): never {
      refusal ??= what;
      throw new Error(`The model checker does not control ${what}.`);
    },
    /** What the lock used first that it may not use. */
    refusal: () => refusal,
  };
}
