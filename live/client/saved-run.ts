// A run that was saved: what the page had shown, moment after moment, without a server.

import { computed, effect, signal } from '@preact/signals';
import type { SavedRun } from '../contract.ts';
import { applyMessage, nothingShown, type Shown } from './state.ts';
import { isSaved, line, shown } from './store.ts';

/** How long the last moment is part of the run, in milliseconds. */
const LAST_MS = 500;

/** Something that was broken, at its moment of the run. */
export interface SavedFault {
  atMs: number;
  label: string;
}

const run = signal<SavedRun | undefined>(undefined);
/** The moment that is seen, in milliseconds since the run began. */
export const moment = signal(0);
export const isPlaying = signal(false);
export const lengthMs = computed(() => (run.value?.changes.at(-1)?.atMs ?? 0) + LAST_MS);
export const isCut = computed(() => run.value?.isCut === true);
export const faults = computed(() => (run.value === undefined ? [] : faultsIn(run.value)));

/** The run that this page brings with it. Undefined on a page that a server sends. */
export function savedRun(): SavedRun | undefined {
  const text = document.getElementById('run')?.textContent;
  return text ? (JSON.parse(text) as SavedRun) : undefined;
}

/** Shows a run from its end, where the verdict is. */
export function openSavedRun(saved: SavedRun) {
  run.value = saved;
  isSaved.value = true;
  // There is none, and none is missed.
  line.value = 'open';
  moment.value = lengthMs.value;
  effect(() => {
    shown.value = shownAt(saved, moment.value);
  });
  effect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      moment.value = Math.min(lengthMs.peek(), moment.peek() + now - last);
      last = now;
      if (moment.peek() >= lengthMs.peek()) isPlaying.value = false;
    }, 50);
    return () => clearInterval(timer);
  });
}

/** Plays from where it stands, and from the beginning when it stands at the end. */
export function turnPlaying() {
  if (!isPlaying.value && moment.value >= lengthMs.value) moment.value = 0;
  isPlaying.value = !isPlaying.value;
}

/** What the page showed at a moment. */
export function shownAt({ choices, start, changes }: SavedRun, atMs: number): Shown {
  const begin = applyMessage(nothingShown, { type: 'all', choices, state: start }, 0);
  return changes
    .filter((change) => change.atMs <= atMs)
    .reduce((seen, { message, atMs }) => applyMessage(seen, message, atMs), begin);
}

/** What was broken, each when the page first drew it. */
export function faultsIn({ changes }: SavedRun): SavedFault[] {
  const known = new Set<string>();
  return changes.flatMap(({ atMs, message }) =>
    (message.views ?? []).flatMap((view) =>
      (view?.timeline?.faults ?? []).flatMap(({ label, node, fromMs }) => {
        const name = `${node ?? ''} ${label} ${Math.round(fromMs)}`;
        if (known.has(name)) return [];
        known.add(name);
        return [{ atMs, label: node === undefined ? label : `${node}: ${label}` }];
      }),
    ),
  );
}
