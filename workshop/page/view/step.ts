// One step of the lesson: predict, then watch the scenario under the stage before and under this one, and change it by hand.

import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import { type Knobs, type Lesson, lessons } from '../../picture/lessons.ts';
import { sayOf } from '../../picture/say.ts';
import type { Shown } from '../../picture/shown.ts';
import { inLab, isSoldTwice, type LessonCell, useCells } from './cells.ts';
import { Code } from './code.ts';
import type { Engine } from './engine.ts';
import { exerciseOf } from './exercises.ts';
import { Dials } from './knobs.ts';
import type { Live } from './live.ts';
import { useKeys, usePlayer, usePlayerKeys } from './player.ts';
import { beatAt, Controls, Playing, rhythmOf, Sentence, sceneAt } from './playing.ts';
import { Question } from './question.ts';
import { ServerSwitch, useServers } from './real.ts';
import { AskRoom } from './room.ts';
import type { Go, Route } from './route.ts';
import { RushShown, rhythmOfRush } from './rushing.ts';
import { say } from './texts.ts';
import { Spoken } from './wording.ts';

export type Side = 'before' | 'now';

/** The user's progress, by stage: the chosen answers, and the steps watched to the end. */
export interface Progress {
  answers: Record<string, number>;
  seen: string[];
}

interface StepProps {
  number: number;
  engine: Engine;
  files: Record<string, string>;
  route: Route;
  go: Go;
  progress: Progress;
  keep(change: Progress): void;
  live?: Live | undefined;
}

/** As many buyers as units in stock: the rest equals the units sold twice. */
const RUSH = { requests: 60, connections: 15, stock: 60 };

export function Step({ number, engine, files, route, go, progress, keep, live }: StepProps) {
  const lesson = lessons[number] as Lesson;
  const { stage, before } = lesson;
  const chosen = progress.answers[stage];
  const isAnswered = chosen !== undefined;
  const isRush = route.side === 'rush' && lesson.rush !== undefined && isAnswered;
  const side: Side = before === undefined || (isAnswered && route.side !== 'before') ? 'now' : 'before';
  const [knobs, tune] = useState<Knobs>(lesson.usual);
  const [isOpen, setOpen] = useState(false);
  const stageOf = (which: Side) => (which === 'before' && before !== undefined ? before : (knobs.stage ?? stage));
  const sides: Side[] = before === undefined ? ['now'] : ['before', 'now'];
  const cellOf = (which: Side): LessonCell => {
    const [page, wanted] = [lesson.page(knobs), { breaks: lesson.breaks, keeps: lesson.keeps }];
    const cell = { stage: stageOf(which), drill: stage, wanted };
    return isRush ? { ...cell, drill: lesson.rush as string, settings: RUSH } : { ...cell, page };
  };
  const servers = useServers(live);
  const cells = sides
    .map(cellOf)
    .map((cell) => (servers.isOn ? { ...cell, drill: lesson.drill, page: undefined } : cell));
  const found = useCells(servers.isOn ? 'real' : 'lab', servers.play ?? inLab(engine), servers.isAsked ? cells : []);
  const ofSide = (which: Side) => found[sides.indexOf(which)];
  const mine = ofSide(side);
  const shown = mine && 'shown' in mine ? mine.shown : undefined;
  const rush = mine && 'rush' in mine ? mine.rush : undefined;
  const rhythm = shown ? rhythmOf(shown) : rhythmOfRush(rush);
  const count = isAnswered ? rhythm.count : 0;
  const player = usePlayer(
    `${stage} ${side} ${isRush} ${servers.isOn}`,
    { ...rhythm, count },
    (pos) => go({ at: Number.isInteger(pos) ? String(pos) : pos.toFixed(1) }),
    Number(route.at ?? 0),
  );
  const { pos } = player;
  const isOver = count > 0 && pos >= count;
  useEffect(() => {
    if (isOver && !progress.seen.includes(stage)) keep({ ...progress, seen: [...progress.seen, stage] });
  }, [isOver]);

  function answer(index: number) {
    if (isAnswered) return;
    keep({ ...progress, answers: { ...progress.answers, [stage]: index } });
    go({ side: sides[0], at: undefined });
    player.play();
    // What had the focus can't be chosen any more.
    if (document.activeElement?.closest('.question'))
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.controls button')?.focus());
  }
  function turn(which: Side | 'rush') {
    go({ side: which, at: undefined });
    player.play();
  }
  const keys = {
    Home: () => player.go(0),
    End: () => player.go(count),
    b: () => before !== undefined && turn(side === 'now' ? 'before' : 'now'),
    n: () => number + 1 < lessons.length && go({ view: String(number + 1), side: undefined, at: undefined }, true),
  };
  usePlayerKeys(player, shown?.turning, keys, isAnswered);
  // Answers have numbers: letters are the names of buyers.
  useKeys(({ key }) => {
    if (isAnswered || !/^[1-4]$/.test(key) || Number(key) > lesson.answers.length) return false;
    answer(Number(key) - 1);
    return true;
  });

  const nothing = ['', ''] as const;
  const exercise = exerciseOf(files, stage);
  const begins = isAnswered
    ? { big: side === 'before' ? lesson.problem : lesson.change, small: nothing }
    : { big: lesson.problem, small: nothing };
  const scene = shown && sceneAt(shown, isAnswered ? pos : 0);
  const other = before === undefined ? undefined : ofSide(side === 'now' ? 'before' : 'now');
  const otherShown = other && 'shown' in other && isAnswered ? other.shown : undefined;
  return html`<article class=${otherShown ? 'step two' : 'step'}>
    <div class="first">
    <section class="show">
      <div class="sides">
        ${before !== undefined && html`<${Sides} sides=${sides} side=${side} isHidden=${!isAnswered} stageOf=${stageOf} found=${sides.map(ofSide)} turn=${turn} />`}
        ${
          lesson.rush !== undefined &&
          isAnswered &&
          html`<div class="switch" role="group" aria-label=${say('buyers')}>
          <button aria-pressed=${!isRush} onClick=${() => turn('now')}>${say('two')}</button>
          <button aria-pressed=${isRush} onClick=${() => turn('rush')}>${say('sixty')}</button>
        </div>`
        }
        ${live && isAnswered && html`<${ServerSwitch} servers=${servers} live=${live} />`}
      </div>
      ${
        rush
          ? html`<${RushShown} rush=${rush} player=${player} />`
          : shown && shown.beats.beats.length > 0
            ? html`<${Playing} shown=${shown} pos=${Math.min(pos, count)} begins=${begins} isHidden=${!isAnswered} isBefore=${side === 'before'} go=${player.go} />`
            : html`<${Sentence} said=${{ big: begins.big, small: nothing }} /><p class="canvas wait" role="status">${shown?.whyNot ?? say('opening')}</p><div class="lanes" />`
      }
      ${isOpen && html`<${Dials} lesson=${lesson} knobs=${knobs} tune=${tune}><${Why} found=${ofSide('now')} /></${Dials}>`}
      <${Controls} player=${player} count=${count} turning=${isRush || !isAnswered ? undefined : shown?.turning}>
        <${Next} lesson=${lesson} number=${number} side=${side} isOver=${isOver} isRush=${isRush} isAnswered=${isAnswered} turn=${turn} go=${go} />
      </${Controls}>
    </section>
    <section class="ask">
      ${isAnswered && before !== undefined && html`<small>${say('askedOf', { stage: before })}</small>`}
      ${isRush && html`<small>${say('askedOfTwo')}</small>`}
      <${Question} question=${inLanguage(lesson.question)} answers=${lesson.answers.map(({ text }) => inLanguage(text))}
        chosen=${chosen} right=${isAnswered ? lesson.right : undefined} choose=${answer} />
      ${isAnswered && html`<p role="status"><b class=${chosen === lesson.right ? 'good' : 'bad'}>${say(chosen === lesson.right ? 'right' : 'wrong')}</b> ${inLanguage(lesson.answers[chosen]?.why ?? nothing)}</p>`}
      ${isOver && (side === 'now' || before === undefined) && html`<p class="after">${inLanguage(lesson.after)}</p>`}
      ${
        isAnswered &&
        html`<p class="bar">
        ${!isRush && html`<button aria-pressed=${isOpen} onClick=${() => setOpen(!isOpen)}>${say('byHand')}</button>`}
        <button onClick=${() => go({ part: 'break' }, true)}>${say('breakIt')}</button>
        ${exercise && html`<button onClick=${() => go({ view: 'turn', part: exercise, side: undefined, at: undefined }, true)}>${say('writeIt')}</button>`}
      </p>`
      }
      ${live && html`<${AskRoom} live=${live} stage=${stage} />`}
    </section>
    </div>
    ${otherShown && html`<${Other} shown=${otherShown} pos=${counterpart(pos, shown, otherShown)} title=${side === 'now' ? 'before' : 'after'} />`}
    <${Code} files=${files} stage=${stageOf(side)} before=${side === 'now' ? before : undefined} scene=${scene} beat=${shown?.beats.beats[beatAt(pos)]} />
  </article>`;
}

interface SidesProps {
  sides: Side[];
  side: Side;
  /** True if the next stage must not be revealed yet. */
  isHidden: boolean;
  stageOf(which: Side): string;
  found: ReturnType<typeof useCells>;
  turn(which: Side): void;
}

function Sides({ sides, side, isHidden, stageOf, found, turn }: SidesProps) {
  return html`<div class="switch" role="group" aria-label=${say('whichLock')}>
    ${sides.map((which, index) => {
      const name = html`${say(which === 'before' ? 'before' : 'after')} <small>${stageOf(which)}</small>`;
      if (isHidden && which === 'now') return null;
      return html`<button aria-pressed=${which === side} onClick=${() => turn(which)}>${name} ${!isHidden && html`<${Verdict} found=${found[index]} />`}</button>`;
    })}
  </div>`;
}

function Verdict({ found }: { found: ReturnType<typeof useCells>[number] }) {
  if (found === undefined) return html`<em>…</em>`;
  const isLost = 'rush' in found ? isSoldTwice(found.rush) : found.shown.verdict === 'fail';
  const isKnown = 'rush' in found || found.shown.verdict === 'pass' || found.shown.verdict === 'fail';
  if (!isKnown) return html`<em>?</em>`;
  return isLost ? html`<em class="bad">✘</em>` : html`<em class="good">✔</em>`;
}

/** What decided the run under the knobs. */
function Why({ found }: { found: ReturnType<typeof useCells>[number] }) {
  if (found === undefined || !('shown' in found) || found.shown.turning === undefined) return null;
  const { beats, stage, turning } = found.shown;
  const { big, small } = sayOf(beats, turning.at, { stage });
  return html`<p class="decided" role="status">${say('after')} <${Verdict} found=${found} /> <${Spoken} text=${`${inLanguage(big)} ${inLanguage(small)}`} /></p>`;
}

interface NextProps {
  lesson: Lesson;
  number: number;
  side: Side;
  isOver: boolean;
  isRush: boolean;
  isAnswered: boolean;
  turn(which: Side | 'rush'): void;
  go: Go;
}

/** The next thing to do: the other side, sixty buyers, breaking it by hand, the next step. */
function Next({ lesson, number, side, isOver, isRush, isAnswered, turn, go }: NextProps) {
  if (!isAnswered) return html`<span class="next">${say('askedFirst')}</span>`;
  const kind = isOver ? 'main next' : 'next';
  if (lesson.before !== undefined && side === 'before')
    return html`<button class=${kind} onClick=${() => turn('now')}>${say('after')}: ${inLanguage(lesson.name)} →</button>`;
  if (lesson.rush !== undefined && !isRush)
    return html`<button class=${kind} onClick=${() => turn('rush')}>${say('sixty')} →</button>`;
  const following = lessons[number + 1];
  const to = following ? String(number + 1) : 'turn';
  return html`<button class=${kind} onClick=${() => go({ view: to, side: undefined, at: undefined }, true)}>${following ? inLanguage(following.name) : say('turn')} →</button>`;
}

/** The other side, if there is room: at the same position, in whole beats. */
function Other({ shown, pos, title }: { shown: Shown; pos: number; title: 'before' | 'after' }) {
  const begins = { big: [shown.stage, shown.stage], small: ['', ''] } as const;
  return html`<section class="show other" aria-label=${say(title)}>
    <p class="sides"><b>${say(title)}</b> <small>${shown.stage}</small> <${Verdict} found=${{ shown }} /></p>
    <${Playing} shown=${shown} pos=${pos} begins=${begins} go=${() => {}} />
  </section>`;
}

/** Both sides reach their ◆ together. */
function counterpart(pos: number, one: Shown | undefined, other: Shown): number {
  const [length, otherLength] = [one?.beats.beats.length ?? 1, other.beats.beats.length];
  if (!one?.turning || !other.turning) return Math.round((pos / length) * otherLength);
  const [at, otherAt] = [one.turning.at + 1, other.turning.at + 1];
  if (pos <= at) return Math.round((pos / at) * otherAt);
  return Math.round(otherAt + ((pos - at) / Math.max(1, length - at)) * (otherLength - otherAt));
}
