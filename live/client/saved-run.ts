// A run that was saved: what the page had shown, moment after moment, without a server.

import type { SavedRun } from '../contract.ts';
import { savedTexts, texts } from '../texts/en.ts';
import { pageValue } from './page-value.ts';
import { applyMessage, nothingShown, type Shown } from './state.ts';
import { isSaved, line, moment, shown } from './store.ts';

/** How long the last moment is part of the run, in milliseconds. */
const LAST_MS = 500;

/** Something that was broken, at its moment of the run. */
export interface SavedFault {
  atMs: number;
  label: string;
}

/** How long a moment lasts while the run plays, in milliseconds. */
const TICK_MS = 50;

let run: SavedRun | undefined;
export const isPlaying = pageValue(false);
let playing: ReturnType<typeof setInterval> | undefined;

export const lengthMs = () => (run?.changes.at(-1)?.atMs ?? 0) + LAST_MS;
export const isCut = () => run?.isCut === true;
export const playedAt = () => new Date(run?.playedAt ?? 0);
export const faults = () => (run === undefined ? [] : faultsIn(run));

/** What was played, and under which stages. */
export function heading(): string {
  if (run === undefined) return '';
  const { views } = shownAt(run, lengthMs());
  return texts.timeline.title(views[0]?.drill ?? null, savedTexts.beside(views.map(({ title }) => title)));
}

/** Shows a run from its beginning. */
export function openSavedRun(saved: SavedRun) {
  run = saved;
  isSaved.value = true;
  // There is none, and none is missed.
  line.value = 'open';
  goTo(0);
}

/** Shows a moment of the run, and stands still there. */
export function goTo(atMs: number) {
  pause();
  show(atMs);
}

/** Plays from where it stands, and from the beginning when it stands at the end. */
export function turnPlaying() {
  if (isPlaying.value) return pause();
  if (moment.value >= lengthMs()) show(0);
  isPlaying.value = true;
  let last = performance.now();
  playing = setInterval(() => {
    const now = performance.now();
    show(Math.min(lengthMs(), moment.value + now - last));
    last = now;
    if (moment.value >= lengthMs()) pause();
  }, TICK_MS);
}

function pause() {
  clearInterval(playing);
  isPlaying.value = false;
}

function show(atMs: number) {
  moment.value = atMs;
  if (run !== undefined) shown.value = shownAt(run, atMs);
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
