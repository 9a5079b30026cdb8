// What is due at which time: a binary heap.

export interface Due {
  /** When it is due, in milliseconds of the virtual clock. */
  at: number;
  run(): void;
}

export type Queue = ReturnType<typeof createQueue>;

/** Gives back what is due earliest, and of equal times what was put in first. */
export function createQueue() {
  const heap: (Due & { number: number })[] = [];
  let lastNumber = 0;

  const isBefore = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return a !== undefined;
    return a.at === b.at ? a.number < b.number : a.at < b.at;
  };

  function swap(one: number, other: number) {
    const [a, b] = [heap[one], heap[other]];
    if (a && b) [heap[one], heap[other]] = [b, a];
  }

  return {
    /** When the first is due; `Infinity` when there is none. */
    nextAt: () => heap[0]?.at ?? Number.POSITIVE_INFINITY,
    put(due: Due) {
      lastNumber += 1;
      let at = heap.push({ at: due.at, run: due.run, number: lastNumber }) - 1;
      for (let parent = (at - 1) >> 1; at > 0 && isBefore(at, parent); parent = (at - 1) >> 1) {
        swap(at, parent);
        at = parent;
      }
    },
    take(): Due | undefined {
      swap(0, heap.length - 1);
      const first = heap.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        const least = isBefore(right, left) ? right : left;
        if (!isBefore(least, at)) return first;
        swap(at, least);
        at = least;
      }
    },
  };
}
