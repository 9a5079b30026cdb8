// What the search knows of a level: whether it can be broken, and the next step of the shortest way from where the game stands.

import type { HintView } from '../../puzzle-contract.ts';
import type { Found } from './thread.ts';

/** A way to break the level: the names of its steps from the beginning on. It is the shortest one from step `from` on. */
interface Line {
  from: number;
  names: string[];
}

/** A game as it stands. */
export interface Made {
  way: number[];
  names: string[];
}

/** The next step, by its name; or why there is none. */
export type Advice = { next: string } | Exclude<HintView, { is: 'searching' }>;

/** `search` finds the shortest way to break the level after these moves. */
export function createHints(search: (after: number[]) => Promise<Found>) {
  const lines: Line[] = [];
  let start: Promise<Found> | undefined;

  /** Looks for a way from where this game stood after so many steps, and remembers it. */
  async function lookFrom({ way, names }: Made, step: number): Promise<Found> {
    const found = await search(way.slice(0, step));
    if (found.verdict === 'fails') lines.push({ from: step, names: [...names.slice(0, step), ...found.names] });
    return found;
  }

  /** How many of the steps that were made are on a known way, which ends in a break: -1 for none. */
  function onKnownWay({ names }: Made): number {
    const shared = lines.map(({ from, names: line }) => {
      const differs = names.findIndex((name, at) => name !== line[at]);
      const length = differs < 0 ? names.length : differs;
      return length >= from ? length : -1;
    });
    return Math.max(-1, ...shared);
  }

  function nextOnKnownWay({ names }: Made): string | undefined {
    const leads = lines.filter(
      ({ from, names: line }) => names.length >= from && names.every((name, at) => name === line[at]),
    );
    return leads.toSorted((one, other) => one.names.length - other.names.length)[0]?.names[names.length];
  }

  /** The last step after which the level could still be broken. What can be done after a step could be done before it. */
  async function lastHope(made: Made): Promise<number> {
    let [can, cannot] = [Math.max(0, onKnownWay(made)), made.names.length];
    while (cannot - can > 1) {
      const middle = Math.floor((can + cannot) / 2);
      if ((await lookFrom(made, middle)).verdict === 'fails') can = middle;
      else cannot = middle;
    }
    return can;
  }

  return {
    /** What the search says of the level. */
    know(): Promise<Found> {
      start ??= lookFrom({ way: [], names: [] }, 0);
      return start;
    },
    async advise(made: Made): Promise<Advice> {
      const { verdict, reason } = await this.know();
      if (verdict === 'holds') return { is: 'impossible' };
      if (verdict === 'unknown') return { is: 'unknown', why: reason };
      const known = nextOnKnownWay(made);
      if (known !== undefined) return { next: known };
      const found = await lookFrom(made, made.names.length);
      const next = nextOnKnownWay(made);
      if (next !== undefined) return { next };
      if (found.verdict === 'unknown') return { is: 'unknown', why: found.reason };
      return { is: 'go back', steps: made.names.length - (await lastHope(made)) };
    },
  };
}
