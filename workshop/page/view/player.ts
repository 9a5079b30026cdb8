// The position in a run, as one number: 3.4 is 40 % into the fourth beat. Plays, steps and rewinds.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Rhythm {
  /** The number of beats. */
  count: number;
  /** The length of a beat, and of the reading pause after it, in milliseconds. */
  beatMs(at: number): number;
  readMs(at: number): number;
  /** Where it stops the first time, so that the viewer can look. */
  stopsAt?: number | undefined;
}

/** A step back is faster than a step forward. */
const BACK_MS = 260;
/** A window that was hidden for longer continues where it was. */
const LONGEST_FRAME_MS = 64;
const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export type Player = ReturnType<typeof usePlayer>;

/** `name`: what is shown; another name starts from the beginning. `onRest` is called with the position where it stops. */
export function usePlayer(name: string, rhythm: Rhythm, onRest: (pos: number) => void = () => {}, begin = 0) {
  const [pos, setPos] = useState(begin);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const own = useRef({
    isOn: false,
    pos: begin,
    name,
    stopped: new Set<string>(),
    target: undefined as number | undefined,
  });
  const given = useRef({ rhythm, speed, onRest });
  given.current = { rhythm, speed, onRest };

  function put(to: number) {
    own.current.pos = Math.max(0, Math.min(given.current.rhythm.count, to));
    setPos(own.current.pos);
  }
  function move(target?: number) {
    Object.assign(own.current, { target, isOn: true });
    setPlaying(true);
  }
  function rest(at: number) {
    Object.assign(own.current, { target: undefined, isOn: false });
    setPlaying(false);
    put(at);
    given.current.onRest(own.current.pos);
  }

  useEffect(() => {
    if (own.current.name === name) return;
    Object.assign(own.current, { name, target: undefined });
    put(0);
  }, [name]);

  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let last: number | undefined;
    let readUntil = 0;
    function tick(time: number) {
      frame = requestAnimationFrame(tick);
      // The frame after its rest comes before this is drawn anew.
      if (!own.current.isOn) return;
      const {
        rhythm: { count, beatMs, readMs, stopsAt },
        speed: factor,
      } = given.current;
      const ms = Math.min(LONGEST_FRAME_MS, time - (last ?? time));
      last = time;
      const { pos: from, target, stopped } = own.current;
      // What is not there yet begins when it is.
      if (count === 0) return;
      if (target === undefined && from >= count) return rest(count);
      if (target === undefined && time < readUntil) return;
      const isBack = target !== undefined && target < from;
      const until = target ?? Math.floor(from) + 1;
      const by = isStill() ? 1 : (ms * factor) / (isBack ? BACK_MS : beatMs(Math.floor(from)));
      const next = isBack ? Math.max(until, from - by) : Math.min(until, from + by);
      if (next !== until) return put(next);
      if (target !== undefined) return rest(target);
      put(next);
      readUntil = time + readMs(Math.floor(from)) / factor;
      const place = `${own.current.name} ${stopsAt}`;
      if (next === stopsAt && !stopped.has(place)) {
        stopped.add(place);
        rest(next);
      }
    }
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);

  return {
    pos,
    isPlaying,
    speed,
    setSpeed,
    /** Jumps there. */
    go: rest,
    /** Steps one beat forward or back. */
    step(by: 1 | -1) {
      const { pos: from, target } = own.current;
      // Who goes on in the middle of a beat sees its end.
      if (target !== undefined && by > 0) put(target);
      const at = target !== undefined && by > 0 ? target : from;
      move(Math.max(0, Math.min(rhythm.count, by > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1)));
    },
    play: () => move(),
    toggle() {
      if (isPlaying) return rest(own.current.pos);
      if (own.current.pos >= rhythm.count) put(0);
      move();
    },
  };
}

type Keys = Record<string, () => void>;

/** The player's keys and more. The space bar still presses a focused button. */
export function usePlayerKeys(player: Player, turning: { at: number } | undefined, more: Keys = {}, isOn = true) {
  const keys: Keys = {
    ArrowRight: () => player.step(1),
    ArrowLeft: () => player.step(-1),
    d: () => turning && player.go(turning.at + 1),
    ' ': player.toggle,
    ...more,
  };
  useKeys(({ key, target }) => {
    if (key === ' ' && target instanceof Element && target.closest('button, a, summary')) return false;
    if (!isOn || keys[key] === undefined) return false;
    keys[key]();
    return true;
  });
}

/** Keys work everywhere except in input fields. `press` returns true if it has handled a key. */
export function useKeys(press: (event: KeyboardEvent) => boolean) {
  const latest = useRef(press);
  latest.current = press;
  // An effect runs after the paint: a key that is pressed before it would be lost.
  useLayoutEffect(() => {
    function hear(event: KeyboardEvent) {
      const { target, ctrlKey, altKey, metaKey } = event;
      const isTaken = target instanceof Element && target.closest('input, select, textarea, dialog, [contenteditable]');
      if (!isTaken && !ctrlKey && !altKey && !metaKey && latest.current(event)) event.preventDefault();
    }
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, []);
}
