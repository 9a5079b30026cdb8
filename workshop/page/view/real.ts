// Runs on real servers: as a replacement for the lab, and as a live view of a run.

import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import { rushOf } from '../../picture/rush.ts';
import type { Wanted } from '../../picture/turning.ts';
import type { RunView } from '../protocol.ts';
import { type Found, type LessonCell, shownOf } from './cells.ts';
import { type Live, useLive } from './live.ts';
import { usePlayer } from './player.ts';
import { Controls, Playing, rhythmOf } from './playing.ts';
import { RushShown, rhythmOfRush } from './rushing.ts';
import { doneNow } from './servers.ts';
import { say } from './texts.ts';
import { Said } from './wording.ts';

/** The visible part of a run. While it is going on, nothing hints at its end. */
function foundOf(
  { stage, place, events, isLoad, verdict }: RunView,
  wanted: Wanted = { breaks: [], keeps: [] },
): Found {
  if (isLoad) return { rush: rushOf(events) };
  const record = { verdict: verdict?.verdict ?? 'unknown', says: verdict?.says ?? [] } as const;
  return { shown: shownOf({ stage, wanted }, { record, events }, place) };
}

/** Plays the lesson's drills like the lab, but on real servers, one after the other. */
export function realServers(live: Live) {
  let last: Promise<unknown> = Promise.resolve();
  /** Counts the stops. */
  let stops = 0;

  async function playNow({ stage, drill, wanted }: RealCell, onFound: (found: Found) => void): Promise<Found> {
    await live.until(({ play }) => play?.is === 'ready');
    const before = live.parts().run?.number ?? 0;
    if (!(await live.command({ do: 'play', stage, drill }))) throw new Error(live.problem());
    const ours = () => {
      const { run } = live.parts();
      return run && run.number > before ? run : undefined;
    };
    const unwatch = live.watch(() => {
      const run = ours();
      if (run) onFound(foundOf(run));
    });
    await live.until(({ play }) => play?.is === 'ready' && ours() !== undefined);
    unwatch();
    const run = ours();
    if (!run?.verdict) throw new Error(live.parts().play?.trouble ?? '');
    return foundOf(run, wanted);
  }

  return {
    /** `onFound` is called with intermediate results. Rejects if it was stopped or can't be played. */
    play(cell: RealCell, onFound: (found: Found) => void = () => {}): Promise<Found> {
      const asked = stops;
      const played = last.then(() => {
        if (asked !== stops) throw new Error('The run was stopped.');
        return playNow(cell, onFound);
      });
      last = played.catch(() => {});
      return played;
    },
    /** Stops the current run and all waiting ones. */
    stop() {
      stops += 1;
      const is = live.parts().play?.is;
      if (is === 'starting' || is === 'playing') void live.command({ do: 'stop' });
    },
  };
}

/** A drill, by name, under a stage. */
type RealCell = Pick<LessonCell, 'stage' | 'drill' | 'wanted'>;

/** The real servers, as a replacement for the lab: they start on demand. */
export function useServers(live: Live | undefined) {
  const servers = useMemo(() => live && realServers(live), [live]);
  const [isOn, setOn] = useState(false);
  const [isBegun, setBegun] = useState(false);
  useEffect(() => () => servers?.stop(), []);
  return {
    isOn,
    /** True if a run may start. */
    isAsked: !isOn || isBegun,
    play: isOn ? servers?.play : undefined,
    begin: () => setBegun(true),
    toggle() {
      servers?.stop();
      setOn(!isOn);
      setBegun(false);
    },
  };
}

/** The switch between the lab and real servers. */
export function ServerSwitch({ servers, live }: { servers: ReturnType<typeof useServers>; live: Live }) {
  return html`<label><input type="checkbox" checked=${servers.isOn} onChange=${servers.toggle} /> ${say('realServers')}</label>
    ${servers.isOn && html`<button aria-disabled=${servers.isAsked} onClick=${servers.begin}>${say('playReal')}</button> <${Trouble} live=${live} />`}`;
}

/** A run in progress shows each beat as it happens. */
const LIVE_BEAT_MS = 450;

/** A run on real servers: its latest moment while it is going on, beat by beat once it is over. */
export function RealRun({ run, isOver }: { run: RunView; isOver: boolean }) {
  const { number, drill, title, events, verdict } = run;
  const found = useMemo(() => foundOf(run), [events, verdict]);
  const rhythm = 'rush' in found ? rhythmOfRush(found.rush) : rhythmOf(found.shown);
  // The last beat is its end.
  const count = isOver || 'rush' in found ? rhythm.count : rhythm.count - 1;
  const player = usePlayer(String(number), isOver ? rhythm : { count, beatMs: () => LIVE_BEAT_MS, readMs: () => 0 });
  const isNew = useMemo(() => isOver, []);
  useEffect(() => {
    if (isOver && !isNew) return player.go(count);
    // Who comes late sees it from its beginning; who was there, what is new.
    if (!isOver && player.pos < count - 1) player.go(count - 1);
    if (count > 0) player.play();
  }, [isOver, isOver || count]);
  const [english, chinese] = title.map((text) => (drill === null ? text : `${text} · ${drill}`)) as [string, string];
  const pos = Math.min(player.pos, count);
  const begins = { big: [english, chinese], small: ['', ''] } as const;
  const says = isOver && pos >= count && verdict && ('shown' in found || count === 0) ? verdict.says : [];
  return html`<section class="show real">
    <p class="title"><b>${inLanguage([english, chinese])}</b> <span class="found" role="status"><${Said} told=${says.map((reason) => ({ reason }))} /></span></p>
    ${
      'rush' in found
        ? html`<${RushShown} rush=${found.rush} player=${player} />`
        : html`<${Playing} shown=${found.shown} pos=${pos} begins=${begins} go=${player.go} />`
    }
    ${isOver ? html`<${Controls} player=${player} count=${count} turning=${'shown' in found ? found.shown.turning : undefined} />` : html`<div class="controls" />`}
  </section>`;
}

/** The current activity, and why nothing is playing, or why a command was refused. */
export function Trouble({ live }: { live: Live }) {
  const { play } = useLive(live);
  const trouble = live.problem() ?? play?.trouble;
  return html`<span role="status">
    ${play && !live.isLost() && html`<b>${doneNow(play)}</b> `}
    <span class="trouble">${live.isLost() ? say('offline') : trouble && html`<span lang="en">${trouble}</span>`}</span>
  </span>`;
}
