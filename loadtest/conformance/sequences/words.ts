// Sequences of operations of one process: which of them make sense, and all of them up to a length.
//
// Before each operation nobody is inside or one holder of the process is, once or nested: that decides which may follow.

import type { LockUnderTest } from '../staging.ts';

/** What a lock can do. It decides which operations apply. */
export interface Abilities {
  hasReentry: boolean;
  hasRenewal: boolean;
  hasMasters: boolean;
  callsOnLeaseLost: boolean;
}

export const abilitiesOf = ({ promises, survey }: LockUnderTest): Abilities => ({
  hasReentry: promises.reentry === true,
  hasRenewal: survey.renewal.length > 0,
  hasMasters: promises.masters === true,
  callsOnLeaseLost: survey.callsOnLeaseLost,
});

/** The state after a sequence: the depth of the holder, and whether a former holder exists. */
interface Standing {
  depth: number;
  hasFormer: boolean;
}

interface Rule {
  canFollow(standing: Standing, abilities: Abilities): boolean;
  /** Where it leads. Without it nothing of this changes. */
  leadsTo?(standing: Standing): Standing;
  /** It takes long, or has little to do with what came before: in the longest sequences it is left out. */
  isRare?: true;
}

const MOST_NESTED = 2;

const always = () => true;
const isFree = ({ depth }: Standing) => depth === 0;
const isHeld = ({ depth }: Standing) => depth > 0;
const isRenewed = ({ depth }: Standing, { hasRenewal }: Abilities) => depth > 0 && hasRenewal;
const ofMasters = (_: Standing, { hasMasters }: Abilities) => hasMasters;
const left = ({ depth, hasFormer }: Standing) => ({ depth: 0, hasFormer: hasFormer || depth > 0 });

/** In the order in which the shortest counterexample is searched for. */
const rules = {
  acquire: { canFollow: isFree, leadsTo: ({ hasFormer }) => ({ depth: 1, hasFormer }) },
  nest: {
    canFollow: ({ depth }, { hasReentry }) => hasReentry && depth > 0 && depth < MOST_NESTED,
    leadsTo: ({ depth, hasFormer }) => ({ depth: depth + 1, hasFormer }),
  },
  release: {
    canFollow: isHeld,
    leadsTo: ({ depth, hasFormer }) => ({ depth: depth - 1, hasFormer: hasFormer || depth === 1 }),
  },
  'release failed': { canFollow: ({ depth }) => depth === 1, leadsTo: left },
  'release again': {
    canFollow: ({ hasFormer }) => hasFormer,
    leadsTo: ({ depth }) => ({ depth, hasFormer: false }),
  },
  hold: { canFollow: isRenewed },
  'hold long': { canFollow: isRenewed },
  lose: { canFollow: isHeld, leadsTo: left },
  abort: { canFollow: always },
  // A holder that sends nothing has no command that could be refused.
  refuse: { canFollow: ({ depth }, { hasRenewal }) => hasRenewal || depth === 0 },
  disconnect: { canFollow: always },
  crash: { canFollow: always, leadsTo: () => ({ depth: 0, hasFormer: false }) },
  'first waiter killed': { canFollow: isHeld, leadsTo: left, isRare: true },
  'second waiter killed': { canFollow: isHeld, leadsTo: left, isRare: true },
  'first waiter paused': { canFollow: isHeld, leadsTo: left, isRare: true },
  'second waiter paused': { canFollow: isHeld, leadsTo: left, isRare: true },
  'first waiter cut off': { canFollow: isHeld, leadsTo: left, isRare: true },
  'second waiter cut off': { canFollow: isHeld, leadsTo: left, isRare: true },
  'waiter refused': { canFollow: isFree, isRare: true },
  'waiter unanswered': { canFollow: isFree, isRare: true },
  'lose to waiters': { canFollow: isHeld, leadsTo: left, isRare: true },
  'wait ten minutes': { canFollow: isRenewed, leadsTo: left, isRare: true },
  'quiet day': { canFollow: isFree, isRare: true },
  'clock forward': { canFollow: always, isRare: true },
  'clock back': { canFollow: always, isRare: true },
  'longer lease there': { canFollow: always, isRare: true },
  'shorter lease there': { canFollow: always, isRare: true },
  'minority reached': { canFollow: ofMasters, leadsTo: left, isRare: true },
  'other majorities': { canFollow: ofMasters, isRare: true },
} satisfies Record<string, Rule>;

export type Operation = keyof typeof rules;
export const operations = Object.keys(rules) as Operation[];

const start: Standing = { depth: 0, hasFormer: false };
const ruleOf = (operation: Operation): Rule => rules[operation];
const canFollow = (operation: Operation, standing: Standing, abilities: Abilities) =>
  ruleOf(operation).canFollow(standing, abilities);
const after = (operation: Operation, standing: Standing) => ruleOf(operation).leadsTo?.(standing) ?? standing;

/** The part of a sequence that makes sense: operations that can't follow are left out. */
export function sensible(word: readonly Operation[], abilities: Abilities): Operation[] {
  let standing = start;
  return word.filter((operation) => {
    if (!canFollow(operation, standing, abilities)) return false;
    standing = after(operation, standing);
    return true;
  });
}

export const isRare = (word: readonly Operation[]) => word.some((operation) => ruleOf(operation).isRare);

/** Every sequence up to this length, the shortest first. With a rare operation the limit is lower, and there are never two rare ones. */
export function sequencesUpTo(length: number, lengthOfRare: number, abilities: Abilities): Operation[][] {
  const all: Operation[][] = [];
  let longest: { word: Operation[]; standing: Standing }[] = [{ word: [], standing: start }];
  for (let at = 1; at <= length; at += 1) {
    longest = longest.flatMap(({ word, standing }) =>
      operations
        .filter((operation) => canFollow(operation, standing, abilities))
        .filter((operation) => !(isRare([operation]) && isRare(word)))
        .map((operation) => ({ word: [...word, operation], standing: after(operation, standing) })),
    );
    if (at > lengthOfRare) longest = longest.filter(({ word }) => !isRare(word));
    all.push(...longest.map(({ word }) => word));
  }
  return all;
}
