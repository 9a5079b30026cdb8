// The simulated clock. Nothing waits: it jumps from event to event, in the same order in every run.

/** Something with its own timers: a node, or the driver of the nodes. */
export interface Actor {
  /** When its next timer is due, in milliseconds; `Infinity` when there is none, or it does not run. */
  nextTimerAt(): number;
  /** Fires the timer that is due first. */
  fireTimer(): void;
  /** Something has happened: it sends what it has to send. */
  flush(): void;
}

export type Schedule = ReturnType<typeof createSchedule>;

/** A clock at 0 ms, with nothing to do. */
export function createSchedule() {
  /** What is to be run, in the order of its times; of equal times what was put in first. */
  const events: { at: number; run(): void }[] = [];
  const actors: Actor[] = [];
  let now = 0;

  /** The moment so many milliseconds from now. */
  const later = (ms: number) => inNanoseconds(now + ms);

  /** The actor whose timer is due first; of equal times the one that joined first. */
  function firstToFire() {
    let first: { actor: Actor; at: number } | undefined;
    for (const actor of actors) {
      const at = actor.nextTimerAt();
      if (at < (first?.at ?? Number.POSITIVE_INFINITY)) first = { actor, at };
    }
    return first;
  }

  /** Takes the next event that is not later than the limit, and all that follows from it at once. Resolves with false when there is none. */
  async function step(limit: number): Promise<boolean> {
    const timer = firstToFire();
    const eventAt = events[0]?.at ?? Number.POSITIVE_INFINITY;
    const at = Math.min(eventAt, timer?.at ?? Number.POSITIVE_INFINITY);
    if (at > limit || at === Number.POSITIVE_INFINITY) return false;
    now = Math.max(now, inNanoseconds(at));
    if (eventAt === at) events.shift()?.run();
    else timer?.actor.fireTimer();
    await settled();
    for (const actor of actors) actor.flush();
    return true;
  }

  /** Goes on until `isSo`, for so many milliseconds of the simulated clock at most. Resolves with whether it came to that. */
  async function until(isSo: () => boolean, limitMs: number): Promise<boolean> {
    const limit = later(limitMs);
    // What was begun just now may have something to send, or be over.
    await settled();
    for (const actor of actors) actor.flush();
    while (!isSo()) {
      if (await step(limit)) continue;
      now = limit;
      return isSo();
    }
    return true;
  }

  return {
    now: () => now,
    later,
    /** Runs this so many milliseconds later. */
    after(ms: number, run: () => void) {
      const at = later(ms);
      events.splice(events.findLastIndex((event) => event.at <= at) + 1, 0, { at, run });
    },
    join: (actor: Actor) => void actors.push(actor),
    /** Another actor takes the place of this one. */
    replace(actor: Actor, by: Actor) {
      actors[actors.indexOf(actor)] = by;
    },
    until,
    /** Lets so many milliseconds pass. */
    pass: async (ms: number) => void (await until(() => false, ms)),
  };
}

/** The clock counts in nanoseconds, as that of a node: a moment is one number, however it was reckoned. */
const inNanoseconds = (ms: number) => Math.round(ms * 1e6) / 1e6;

/** Everything that a promise has set off has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
