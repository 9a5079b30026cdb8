// How many sales there were in the last second.

const SECOND_MS = 1_000;

export interface Pace {
  /** Takes note of how many there were until now. Returns false when there was none in the last second. */
  look(sold: number): boolean;
  perSecond(): number;
}

export function createPace(): Pace {
  let looks: { at: number; sold: number }[] = [];
  let perSecond = 0;

  return {
    look(sold) {
      const at = performance.now();
      // After a reset it counts from the beginning.
      if (sold < (looks.at(-1)?.sold ?? 0)) looks = [];
      looks.push({ at, sold });
      // The last one that is a second old stays: what came since counts.
      while (looks[1] && looks[1].at <= at - SECOND_MS) looks.shift();
      const before = perSecond;
      perSecond = sold - (looks[0]?.sold ?? 0);
      return perSecond > 0 || before > 0;
    },
    perSecond: () => perSecond,
  };
}
