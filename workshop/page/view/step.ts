// One step of the lesson: its question, the scenario under the stage before and under this one, and what came of it.

import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PlayEvent } from '../../../loadtest/evidence/playing.ts';
import type { Played } from '../worker.ts';
import { Code, Named } from './code.ts';
import type { Engine } from './engine.ts';
import { type Lesson, lessons } from './lessons.ts';
import type { Live } from './live.ts';
import { Controls, usePlayer } from './player.ts';
import { Question } from './question.ts';
import { type RealServers, Trouble } from './real.ts';
import { isTold, linesAt, momentAt, stopsOf } from './reduce.ts';
import { AskRoom } from './room.ts';
import { Outcome, placeOf, Run, scaleOf } from './run.ts';
import { inLanguage, say, type Text } from './texts.ts';
import { inPageLanguage, stepSaid } from './wording.ts';

interface StepProps {
  lesson: Lesson;
  engine: Engine;
  files: Record<string, string>;
  /** The server of the live page, where there is one; and the real servers, when it is played there. */
  live?: Live;
  real?: RealServers;
  onNext(): void;
}

const partsOf = (stage: string) => ({ n: Number(stage[0]), name: stage.slice(2) });

/** The question of a scenario is the second line of its page; a rush has none. */
const asksIn = (page = '') => (page.split('\n')[1] ?? '').replace(/^./, (first) => first.toLowerCase());

export function Step({ lesson, engine, files, live, real, onNext }: StepProps) {
  const { stage, drill } = lesson;
  const number = lessons.indexOf(lesson);
  const stages = [...lessons.slice(Math.max(0, number - 1), number).map((each) => each.stage), stage];
  const [runs, setRuns] = useState<Played[]>();
  const [chosen, choose] = useState<number>();
  /** On real servers it begins when one says so, and is seen while it goes on. */
  const [isBegun, setBegun] = useState(real === undefined);
  const [soFar, setSoFar] = useState<PlayEvent[][]>([]);
  useEffect(() => {
    if (!isBegun) return;
    let isLeft = false;
    const played = stages.map((each, index) =>
      real
        ? real.play({ stage: each, drill }, (seen) =>
            setSoFar((before) => Object.assign([...before], { [index]: seen })),
          )
        : engine.ask('play', { stage: each, drill, isShown: true }),
    );
    void Promise.all(played).then(
      (all) => isLeft || setRuns(all),
      () => isLeft || setBegun(false),
    );
    return () => {
      isLeft = true;
      real?.stop();
    };
  }, [isBegun]);
  const isUnderWay = real !== undefined && runs === undefined;
  const events = useMemo(() => runs?.map((run) => run.events) ?? soFar, [runs, soFar]);
  const stops = useMemo(() => stopsOf(events), [events]);
  const player = usePlayer(stops, { isTold: isTold(events.flat()), begins: number === 0 });
  useEffect(() => {
    if (real && runs) player.go(stops.length - 1);
  }, [runs]);
  const at = (isUnderWay ? stops.at(-1) : stops[player.stop]) ?? 0;
  function answer(chosen: number) {
    choose(chosen);
    if (!player.isOver) player.play();
  }
  const isLast = number === lessons.length - 1;
  const asks = inPageLanguage({ question: drill, asks: asksIn(files[`loadtest/scenarios/${drill}.txt`]) });
  const titles: Text[] = stages.length === 1 ? ['only'] : ['before', 'after'];

  return html`<article class="step">
    <section class="ask">
      <p><b>${inLanguage(lesson.problem)}</b> ${inLanguage(lesson.change)}</p>
      <${Question} question=${inLanguage(lesson.question)} answers=${lesson.order.map((answer) => inLanguage(lesson.answers[answer] ?? ['', '']))}
        chosen=${chosen} choose=${answer} />
      ${live && html`<${AskRoom} live=${live} stage=${stage} />`}
    </section>
    <section class="runs">
      ${stages.map(
        (each, index) =>
          html`<${Run} title=${say(titles[index] as Text, partsOf(each))} events=${events[index] ?? []} said=${stepSaid} place=${placeOf(each)} scale=${scaleOf(stops)} at=${at} asks=${asks} />`,
      )}
      ${
        isUnderWay &&
        html`<p class="controls">
        <button class="main" disabled=${isBegun} onClick=${() => setBegun(true)}>${say('playReal')}</button>
        ${live && html`<${Trouble} live=${live} />`}
      </p>`
      }
      <${Controls} player=${player} count=${isUnderWay ? 0 : stops.length}>
        <button class=${player.isOver ? 'main' : ''} onClick=${onNext}>${say(isLast ? 'scheduler' : 'next')}</button>
      </${Controls}>
      ${player.isOver && stages.map((each, index) => html`<${Outcome} events=${events[index] ?? []} isBroken=${runs?.[index]?.record.verdict === 'fail'} meaning=${each === stage ? lesson.after : lesson.before} />`)}
      <p class="told" role="status">
        ${player.isOver && (chosen === undefined ? html`<span>${say('askedFirst')}</span>` : html`<b>${say(lesson.order[chosen] === 0 ? 'right' : 'wrong')}</b> ${inLanguage(lesson.explains)}`)}
      </p>
    </section>
    <div><${Code} file=${`locks/${stage}.ts`} text=${files[`locks/${stage}.ts`] ?? ''} before=${stages.length > 1 ? files[`locks/${stages[0]}.ts`] : undefined}
      at=${linesAt(momentAt(events.at(-1) ?? [], at))} />
      <${Named} text=${files[`locks/${stage}.ts`] ?? ''} files=${files} /></div>
  </article>`;
}
