// The view of a check of a user's lock: the scenario or the interleaving that breaks it, and each sale's line in the lock.

import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { SaleScene } from '../../picture/beats.ts';
import { rushOf } from '../../picture/rush.ts';
import { type Found, placeOf, shownOf } from './cells.ts';
import { atLock } from './code.ts';
import { type Engine, LateError } from './engine.ts';
import type { PageExercise } from './exercises.ts';
import { cellOf, type Judged, scopeOf } from './judging.ts';
import { usePlayer, usePlayerKeys } from './player.ts';
import { beatAt, Controls, Playing, rhythmOf, Sentence, sceneAt } from './playing.ts';
import { RushShown, rhythmOfRush } from './rushing.ts';
import { say } from './texts.ts';
import { inPageLanguage, Said, type Told } from './wording.ts';

/** The sales in the lock, and their lines. */
export type At = Pick<SaleScene, 'sale' | 'line'>[];

interface SeenProps {
  judged: Judged;
  /** The text of the judged lock. */
  text: string;
  exercise: PageExercise | undefined;
  /** The stage, unless it is an exercise. */
  name: string;
  engine: Engine;
  setAt(at: At): void;
}

export function Seen({ judged, text, exercise, name, engine, setAt }: SeenProps) {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<Error>();
  const stage = exercise?.stage ?? name;
  // Of a scope in which the lock holds there is no interleaving to see.
  const isNothing = judged.isOfSearch && judged.verdict !== 'fail';
  useEffect(() => {
    if (!isNothing) play(engine, { judged, text, exercise, stage }).then(setFound, setProblem);
    return () => setAt([]);
  }, []);
  const shown = found && 'shown' in found ? found.shown : undefined;
  const rush = found && 'rush' in found ? found.rush : undefined;
  const rhythm = shown ? rhythmOf(shown) : rhythmOfRush(rush);
  const player = usePlayer(found ? 'found' : '', rhythm);
  const scene = shown && sceneAt(shown, player.pos);
  const beat = shown?.beats.beats[beatAt(player.pos)];
  useEffect(() => setAt(atLock(scene, beat)), [scene]);
  usePlayerKeys(player, shown?.turning);
  const whyNot = problem instanceof LateError ? html`<${Said} told=${problem.told} />` : problem?.message;
  const begins = { big: bothOf(saidIn(judged.asks)), small: bothOf('') };
  return html`<p class="why" tabindex="0"><b>${judged.isOfSearch && judged.verdict === 'fail' && say('shortest')}</b> ${lineSaid(judged.line)}<${Said} told=${judged.says} /></p>
    ${
      rush
        ? html`<${RushShown} rush=${rush} player=${player} />`
        : shown
          ? html`<${Playing} shown=${shown} pos=${player.pos} begins=${begins} go=${player.go} />`
          : html`<${Sentence} said=${begins} /><p class="canvas wait" role="status">${whyNot ?? (isNothing ? '' : say('opening'))}</p>`
    }
    ${found && html`<${Controls} player=${player} count=${rhythm.count} turning=${shown?.turning} />`}`;
}

/** The line where a lock threw an error, as a prefix of the error. */
export const lineSaid = (line: number | undefined) => line !== undefined && html`<b>${say('line', { line })}</b> `;

const bothOf = (text: string) => [text, text] as const;
const saidIn = (told: Told[]) => told.map(inPageLanguage).join(' ');

interface Asked extends Pick<SeenProps, 'judged' | 'text' | 'exercise'> {
  stage: string;
}

async function play(engine: Engine, { judged, text, exercise, stage }: Asked): Promise<Found> {
  const wanted = { breaks: [], keeps: [] };
  const place = placeOf(stage);
  if (judged.isOfSearch) {
    const { events } = await engine.ask('search', scopeOf(text, judged.name, exercise));
    return { shown: shownOf({ stage, wanted }, { record: { verdict: 'fail' }, events }, place) };
  }
  const { record, events } = await engine.ask('play', { ...cellOf(text, judged.name), isShown: true });
  if (judged.isLoad) return { rush: rushOf(events) };
  return { shown: shownOf({ stage, wanted }, { record, events }, place) };
}
