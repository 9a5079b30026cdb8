// Plays runs from stop to stop: forwards, backwards, by keys.

import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { say } from './texts.ts';

/** How long one stops where there is a sentence to read, and where there is none, in milliseconds. */
const STOP_MS = { told: 800, untold: 130 };

export type Player = ReturnType<typeof usePlayer>;

/** `begins`: it plays by itself. */
export function usePlayer(stops: number[], { isTold, begins }: { isTold: boolean; begins: boolean }) {
  const last = Math.max(0, stops.length - 1);
  const [stop, setStop] = useState(0);
  const [isPlaying, setPlaying] = useState(begins);
  useEffect(() => {
    if (!isPlaying || last === 0) return;
    const timer = setTimeout(
      () => {
        if (stop + 1 >= last) setPlaying(false);
        // Somebody may have gone elsewhere just now.
        setStop((now) => (now === stop ? Math.min(last, stop + 1) : now));
      },
      isTold ? STOP_MS.told : STOP_MS.untold,
    );
    return () => clearTimeout(timer);
  }, [isPlaying, stop, last, isTold]);
  return {
    stop: Math.min(stop, last),
    isPlaying: isPlaying && last > 0,
    isOver: last > 0 && stop === last,
    go(to: number) {
      setPlaying(false);
      setStop(Math.max(0, Math.min(last, to)));
    },
    play() {
      if (stop === last) setStop(0);
      setPlaying(true);
    },
    pause: () => setPlaying(false),
  };
}

/** The buttons, and the keys that do the same wherever one is but in a field: space, arrows, Home and End. */
export function Controls({ player, count, children }: { player: Player; count: number; children?: unknown }) {
  const { stop, isPlaying, go, play, pause } = player;
  const toggle = isPlaying ? pause : play;
  const keys: Record<string, () => void> = {
    ArrowRight: () => go(stop + 1),
    ArrowLeft: () => go(stop - 1),
    Home: () => go(0),
    End: () => go(count - 1),
    ' ': toggle,
  };
  useKeys(({ key, target }) => {
    const isPressed = key === ' ' && target instanceof Element && target.closest('button, a, summary');
    if (isPressed || keys[key] === undefined) return false;
    keys[key]();
    return true;
  });
  return html`<div class="controls">
    <button class="main" onClick=${toggle} disabled=${count < 2}>${say(isPlaying ? 'pause' : 'play')}</button>
    <button aria-label=${say('back')} onClick=${() => go(stop - 1)}>◀</button>
    <input type="range" aria-label=${say('moment')} min="0" max=${Math.max(0, count - 1)} value=${stop}
      onInput=${(event: Event) => go(Number((event.target as HTMLInputElement).value))} />
    <button aria-label=${say('forward')} onClick=${() => go(stop + 1)}>▶</button>
    ${children}
  </div>`;
}

/** Keys work wherever one is but in a field. `press` says whether it has used one. */
export function useKeys(press: (event: KeyboardEvent) => boolean) {
  useEffect(() => {
    function hear(event: KeyboardEvent) {
      const { target, ctrlKey, altKey, metaKey } = event;
      const isTaken = target instanceof Element && target.closest('input, select, textarea, [contenteditable]');
      if (!isTaken && !ctrlKey && !altKey && !metaKey && press(event)) event.preventDefault();
    }
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  });
}
