// The view of a playing: the sentence, the picture, the timeline and the controls, all derived from the player's position.

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import type { Beat, Scene } from '../../picture/beats.ts';
import { DOES, Picture } from '../../picture/picture.ts';
import { partsOf, type Said, sayOf } from '../../picture/say.ts';
import type { Shown } from '../../picture/shown.ts';
import { Timeline } from '../../picture/timeline.ts';
import type { Player, Rhythm } from './player.ts';
import { say } from './texts.ts';
import { Spoken } from './wording.ts';

/** The length of a beat, in milliseconds: with a round trip to Redis, and without. */
const TRIP_MS = 1_350;
const beatMs: Partial<Record<Beat['kind'], number>> = {
  come: 500,
  'lease-end': 900,
  node: 700,
  'mutex-take': 500,
  'mutex-wait': 500,
  'give-up': 600,
  told: 500,
  end: 300,
};
/** The reading pause after a normal beat, and after a failure. */
const [READ_MS, LOOK_MS] = [850, 2_600];

export function rhythmOf({ beats: { beats }, turning }: Shown): Rhythm {
  return {
    count: beats.length,
    beatMs: (at) => beatMs[beats[at]?.kind ?? 'command'] ?? TRIP_MS,
    readMs: (at) => (at === turning?.at ? LOOK_MS : READ_MS),
    stopsAt: turning && turning.at + 1,
  };
}

/** The last visible beat: a command counts once Redis has executed it. */
export const beatAt = (pos: number) => Math.floor(pos) + (pos % 1 >= DOES ? 0 : -1);
/** The state at this position. */
export const sceneAt = ({ beats: { scenes } }: Shown, pos: number) =>
  scenes[Math.min(scenes.length - 1, Math.max(0, beatAt(pos) + 1))] as Scene;

/** Whether the last visible beat breaks the lock or saves it. */
export function toneAt({ beats: { beats }, turning, verdict }: Shown, pos: number): 'bad' | 'good' | undefined {
  const index = beatAt(pos);
  const beat = beats[index];
  if (beat === undefined) return undefined;
  const isTurning = index === turning?.at;
  if (verdict === 'fail' && (beat.breaks.length > 0 || beat.kind === 'end' || isTurning)) return 'bad';
  return isTurning || (beat.kind === 'end' && verdict === 'pass') ? 'good' : undefined;
}

interface SentenceProps {
  said: Said;
  tone?: 'bad' | 'good' | undefined;
}

export const Sentence = ({ said, tone }: SentenceProps) => html`<div class=${`said ${tone ?? ''}`} aria-live="polite">
    <p class="big"><${Spoken} text=${inLanguage(said.big)} /></p>
    <p class="less"><${Spoken} text=${inLanguage(said.small)} /></p>
  </div>`;

interface PlayingProps {
  shown: Shown;
  pos: number;
  /** The sentence before the first beat. */
  begins: Said;
  /** True if nothing of the future may be visible. */
  isHidden?: boolean;
  /** True for the stage before: its successes are not highlighted. */
  isBefore?: boolean;
  go(pos: number): void;
}

/** The sentence, the picture and the timeline. */
export function Playing({ shown, pos: wanted, begins, isHidden, isBefore, go }: PlayingProps) {
  const [place, size] = useSize();
  const { beats, stage, turning } = shown;
  // What is shown may just have changed.
  const pos = Math.min(wanted, beats.beats.length);
  const index = beatAt(pos);
  const said = useMemo(
    () => (index < 0 ? begins : sayOf(beats, index, { stage })),
    [shown, index, inLanguage(begins.big)],
  );
  const label = partsOf(inLanguage(said.big)).join('');
  const tone = toneAt(shown, pos);
  return html`<${Sentence} said=${said} tone=${isBefore && tone === 'good' ? undefined : tone} />
    <div class="canvas" ref=${place}>
      ${size.h > 0 && html`<${Picture} beats=${beats} pos=${pos} size=${size} stage=${stage} leaseMs=${beats.leaseMs} label=${label} />`}
    </div>
    <div class="lanes">${size.w > 0 && !isHidden && html`<${Timeline} beats=${beats} pos=${pos} w=${size.w} turning=${turning} go=${go} label=${label} />`}</div>`;
}

interface ControlsProps {
  player: Player;
  count: number;
  turning?: Shown['turning'];
  children?: unknown;
}

export function Controls({ player, count, turning, children }: ControlsProps) {
  const { pos, isPlaying, speed } = player;
  const isAtTurning = !isPlaying && turning?.at === pos - 1;
  return html`<div class="controls">
    <button class="main" onClick=${player.toggle} disabled=${count === 0}>${isPlaying ? '❚❚' : '▶'}<span> ${say(isPlaying ? 'pause' : 'play')}</span></button>
    <button aria-label=${say('back')} aria-disabled=${pos === 0} onClick=${() => player.step(-1)}>←</button>
    <button aria-label=${say('forward')} aria-disabled=${pos >= count} onClick=${() => player.step(1)}>→</button>
    ${turning && html`<button class=${turning.isBad ? 'bad' : 'good'} aria-label=${say('turning')} onClick=${() => player.go(turning.at + 1)}>◆</button>`}
    <select class="speed" aria-label=${say('speed')} value=${speed} onChange=${(event: Event) => player.setSpeed(Number((event.target as HTMLSelectElement).value))}>
      ${[0.5, 1, 2, 4].map((each) => html`<option value=${each}>${each}×</option>`)}
    </select>
    ${isAtTurning && html`<small class=${turning.isBad ? 'bad' : 'good'} role="status">${say('atTurning')}</small>`}
    ${children}
  </div>`;
}

/** The current size of an element, in pixels. */
export function useSize() {
  const place = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ w: 0, h: 0 });
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const look = () => setSize({ w: element.clientWidth, h: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  return [place, size] as const;
}
