// What is played on real servers: in the place of the lab, and as a run that is seen while it goes on.

import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { PlayEvent } from '../../../loadtest/evidence/playing.ts';
import type { RunView } from '../protocol.ts';
import type { CellTask, Played } from '../worker.ts';
import { type Live, useLive } from './live.ts';
import { Controls, usePlayer } from './player.ts';
import { isTold, stopsOf } from './reduce.ts';
import { Outcome, Run, scaleOf } from './run.ts';
import { doneNow } from './servers.ts';
import { say } from './texts.ts';
import { Said, stepSaid } from './wording.ts';

export type RealServers = ReturnType<typeof realServers>;

/** Plays cells as the lab does, but on real servers: one after the other. */
export function realServers(live: Live) {
  let last: Promise<unknown> = Promise.resolve();
  /** Counts how often everything was stopped. */
  let stops = 0;

  async function playNow({ stage, drill }: CellTask, onEvents: (events: PlayEvent[]) => void): Promise<Played> {
    await live.until(({ play }) => play?.is === 'ready');
    const before = live.parts().run?.number ?? 0;
    if (!(await live.command({ do: 'play', stage, drill }))) throw new Error(live.problem());
    const isOurs = () => (live.parts().run?.number ?? 0) > before;
    const unwatch = live.watch(() => isOurs() && onEvents(live.parts().run?.events ?? []));
    await live.until(({ play }) => play?.is === 'ready' && isOurs());
    unwatch();
    const { play, run } = live.parts();
    if (!run?.verdict) throw new Error(play?.trouble ?? '');
    return { record: { ...run.verdict, drill }, log: [], events: run.events };
  }

  return {
    /** `onEvents` is called with what was seen so far. Rejects when it was stopped, or can't be played. */
    play(cell: CellTask, onEvents: (events: PlayEvent[]) => void): Promise<Played> {
      const asked = stops;
      const played = last.then(() => {
        if (asked !== stops) throw new Error('It was stopped.');
        return playNow(cell, onEvents);
      });
      last = played.catch(() => {});
      return played;
    },
    /** Stops what is played, and what was to come after it. */
    stop() {
      stops += 1;
      if (/^(starting|playing)$/.test(live.parts().play?.is ?? '')) void live.command({ do: 'stop' });
    },
  };
}

/** A run on real servers: as it goes on, and when it is over from stop to stop. */
export function RealRun({ run, isOver }: { run: RunView; isOver: boolean }) {
  const { drill, title, place, events, verdict } = run;
  const stops = useMemo(() => stopsOf([events]), [events]);
  const player = usePlayer(stops, { isTold: isTold(events), begins: false });
  useEffect(() => {
    if (isOver) player.go(stops.length - 1);
  }, [isOver]);
  const end = stops.at(-1) ?? 0;
  const at = isOver ? (stops[player.stop] ?? 0) : end;
  const named = drill === null ? title : `${title} · ${drill}`;
  return html`<section class="runs">
    ${events.length > 0 && html`<${Run} title=${named} events=${events} said=${stepSaid} place=${place} scale=${scaleOf(stops)} at=${at} />`}
    ${isOver && stops.length > 1 && html`<${Controls} player=${player} count=${stops.length} />`}
    ${isOver && verdict && at >= end && html`<${Outcome} events=${events} isBroken=${verdict.verdict === 'fail'}><${Said} told=${verdict.says.map((reason) => ({ reason }))} /></${Outcome}>`}
  </section>`;
}

/** What goes on, and why nothing is played, or not what was asked for. */
export function Trouble({ live }: { live: Live }) {
  const { play } = useLive(live);
  const trouble = live.problem() ?? play?.trouble;
  return html`<span role="status">
    ${play && !live.isLost() && html`<b>${doneNow(play)}</b> `}
    <span class="trouble">${live.isLost() ? say('offline') : trouble && html`<span lang="en">${trouble}</span>`}</span>
  </span>`;
}
