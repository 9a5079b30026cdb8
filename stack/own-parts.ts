// The processes of a run: detects those that die unexpectedly, and stops the others at the end of the run.

import { dismissReaper, type Part, PartError } from './parts.ts';

/** A process, and how to restart it after it has ended: on the same port, with its data. */
export interface OwnServer {
  part: Part;
  startAgain(): Promise<Part>;
}

/** A process that a drill may break. */
export interface Breakable {
  /** Sends a signal to the process: SIGSTOP pauses it, SIGCONT resumes it. */
  signal(name: NodeJS.Signals): void;
  /** Ends the process at once, as a crash would. It does not count as a part that has died. */
  kill(): Promise<void>;
  /** Starts the process again after it has ended, on the same ports. */
  start(): Promise<void>;
}

export interface OwnProcess extends Breakable {
  pid(): number;
  /** Asks the process to end, and waits for it. It does not count as a part that has died. */
  stop(): Promise<void>;
}

export type OwnParts = ReturnType<typeof createOwnParts>;

/** Tracks the parts of a run. Calls `onSpare` when a part has ended that the others can do without: that is not a death. */
export function createOwnParts(onSpare: (sentence: string) => void = () => {}) {
  const parts = new Set<Part>();
  let isStopping = false;
  let reportDeath: (error: PartError) => void;
  /** Resolves as soon as a part ends that nobody stopped. */
  const partDied = new Promise<PartError>((resolve) => {
    reportDeath = resolve;
  });

  /** From here on the part's end is a death, unless the run stops or the part is let go. */
  function watch(part: Part, isSpare = false): Part {
    parts.add(part);
    void part.ended.then((sentence) => {
      if (!parts.delete(part) || isStopping) return;
      if (isSpare) onSpare(sentence);
      else reportDeath(new PartError(part.name, sentence));
    });
    return part;
  }

  async function stop(part: Part) {
    if (parts.delete(part)) await part.stop();
  }

  return {
    partDied,
    watch,
    stop,
    breakable({ part, startAgain }: OwnServer, isSpare = false): OwnProcess {
      watch(part, isSpare);
      return {
        pid: () => part.pid,
        signal: (name) => part.signal(name),
        async kill() {
          parts.delete(part);
          part.signal('SIGKILL');
          await part.ended;
        },
        stop: () => stop(part),
        async start() {
          part = watch(await startAgain(), isSpare);
        },
      };
    },
    /** Stops what is left, once, from the outside in: no part loses the one it depends on. Then does the rest. */
    async stopAll(andThen: () => unknown) {
      if (isStopping) return;
      isStopping = true;
      for (const part of [...parts].toReversed()) await part.stop();
      await andThen();
      await dismissReaper();
    },
  };
}

/** Resolves with all outcomes. Rejects when each promise has settled, so that nothing starts any more. */
export async function all<T>(promises: Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(promises);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
