// Keeps what the page has shown of a run, so that it can be seen again from a file.

import type { LiveState, SavedRun, StageChoice } from '../contract.ts';
import { changesBetween, type Members, membersOf } from './members.ts';

/** How much of a run is kept at most, in characters. A drill takes some hundred thousand. */
const MOST_KEPT = 20_000_000;

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder({ choices, read }: { choices: StageChoice[]; read: () => LiveState }) {
  let startedAt = 0;
  let playedAt = '';
  let start: LiveState | undefined;
  let has: Members = new Map();
  let changes: SavedRun['changes'] = [];
  let kept = 0;

  return {
    /** Forgets the run before, and begins with nothing to be seen. */
    begin() {
      start = { ...read(), controls: null, views: [] };
      has = membersOf(start);
      changes = [];
      kept = 0;
    },
    /** Keeps what has changed since the last time. */
    look() {
      if (start === undefined || kept > MOST_KEPT) return;
      const state = read();
      // Until the servers have started the run before is to be seen.
      if (state.play.is === 'starting') return;
      const members = membersOf(state);
      const message = changesBetween(has, members);
      has = members;
      if (message === undefined) return;
      kept += message.length;
      const now = performance.now();
      // It begins with what is seen first, not with the wait for its servers.
      if (changes.length === 0) {
        startedAt = now;
        playedAt = new Date().toISOString();
      }
      changes.push({ atMs: Math.round(now - startedAt), message: JSON.parse(message) });
    },
    /** What was seen since the beginning. Undefined when nothing has begun. */
    run(): SavedRun | undefined {
      if (start === undefined) return undefined;
      const stages = new Set([start, ...changes.map(({ message }) => message)].flatMap(stagesIn));
      const beganMs = drillBegan(changes);
      return {
        playedAt,
        choices: choices.filter(({ name }) => stages.has(name)),
        start,
        changes: changes.map(({ atMs, message }) => ({ atMs: Math.max(0, atMs - beganMs), message })),
        isCut: kept > MOST_KEPT,
      };
    },
  };
}

/** When the drill began: there the times of its story and its timeline are 0. What has no timeline began with what was seen first. */
function drillBegan(changes: SavedRun['changes']): number {
  const begins = changes.flatMap(({ atMs, message }) =>
    (message.views ?? []).flatMap((view) => (view?.timeline ? Math.round(atMs - view.timeline.durationMs) : [])),
  );
  return begins.length === 0 ? 0 : Math.min(...begins);
}

function stagesIn({ views = [] }: { views?: ({ stage?: string } | null)[] }): string[] {
  return views.flatMap((view) => view?.stage ?? []);
}
