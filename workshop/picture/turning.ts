// The ◆ of a playing: the beat in which the lock breaks or is saved. It is computed from the beats.

import type { Beat, Beats, Break, Scene } from './beats.ts';
import type { Shown } from './shown.ts';

/** What saves a lock from breaking. */
export type Keep =
  | 'mutex-wait'
  | 'denied'
  | 'tries'
  /** A sale gets in because a lease has ended. */
  | 'after-lease'
  /** A sale checks a lock that is not its own. */
  | 'look'
  | 'release-refused'
  | 'acquire-again'
  | 'renew'
  | 'write-refused';

/** What the ◆ of a lesson is about, most significant first. */
export interface Wanted {
  breaks: Break[];
  keeps: Keep[];
}

const WORST_FIRST: Break[] = ['overwritten', 'freed-other', 'same-read', 'two-inside', 'own-lock', 'closed'];
const TELLING_FIRST: Keep[] = ['write-refused', 'release-refused', 'denied', 'mutex-wait'];

/** The index of the deciding beat. Undefined if there is none. */
export function turningOf(
  { beats, scenes }: Beats,
  { verdict, breaks, keeps }: Wanted & Pick<Shown, 'verdict'>,
): Shown['turning'] {
  if (verdict !== 'pass' && verdict !== 'fail') return undefined;
  const isBad = verdict === 'fail';
  const tests = isBad
    ? [...breaks, ...WORST_FIRST].map((what) => (beat: Beat) => beat.breaks.includes(what))
    : [...keeps, ...TELLING_FIRST].map(
        (what) => (beat: Beat, index: number) => isKept(what, beat, scenes[index] as Scene, beats.slice(0, index)),
      );
  const at = tests.map((test) => beats.findIndex(test)).find((index) => index >= 0);
  return at === undefined ? undefined : { at, isBad };
}

function isKept(what: Keep, { kind, command, sale }: Beat, before: Scene, earlier: Beat[]): boolean {
  if (what === 'mutex-wait' || what === 'tries') return kind === what;
  if (what === 'after-lease') return command?.act === 'acquire' && earlier.some((beat) => beat.kind === 'lease-end');
  if (what === 'look') return command?.act === 'look' && before.holder !== sale;
  return command?.act === what;
}
