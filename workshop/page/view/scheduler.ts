// You are the scheduler: choose the next event, and find the hole that a stage leaves.

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { saysOfScope } from '../../../prove/wording.ts';
import { beatsOf, type Scene } from '../../picture/beats.ts';
import { lessons } from '../../picture/lessons.ts';
import type { Shown } from '../../picture/shown.ts';
import { turningOf } from '../../picture/turning.ts';
import type { Orders, Standing } from '../game.ts';
import { placeOf } from './cells.ts';
import { Code } from './code.ts';
import type { Engine } from './engine.ts';
import { type Level, levels } from './levels.ts';
import { useKeys, usePlayer } from './player.ts';
import { Playing, rhythmOf, Sentence, sceneAt } from './playing.ts';
import type { Go } from './route.ts';
import { inNumber, say, texts } from './texts.ts';
import { moveSaid, searchSaid } from './wording.ts';

interface SchedulerProps {
  /** The lesson's step with this lock. */
  number: number;
  engine: Engine;
  files: Record<string, string>;
  go: Go;
}

const nothing: Standing = { events: [], moves: [] };

export function Scheduler({ number, engine, files, go }: SchedulerProps) {
  const { stage } = lessons[number] as (typeof lessons)[number];
  const task = levels.find((level) => level.stage === stage) as Level;
  const [way, setWay] = useState<number[]>([]);
  const [standing, setStanding] = useState<Standing>(nothing);
  const [orders, setOrders] = useState<Orders>();
  const [advice, advise] = useState<number>();
  const moves = useRef<HTMLOListElement>(null);
  const isOver = standing.events.length > 0 && standing.moves.length === 0;
  const shown = useMemo((): Shown => {
    const beats = beatsOf(standing.events, placeOf(stage));
    // What has not come to its end has no end to tell.
    if (!isOver && beats.beats.length > 1) {
      beats.beats.pop();
      beats.scenes.pop();
    }
    const verdict = standing.broken === undefined ? 'unknown' : 'fail';
    const turning = standing.broken && turningOf(beats, { verdict, breaks: [], keeps: [] });
    return { stage, beats, verdict, turning };
  }, [standing]);
  const count = standing.events.some(({ kind }) => kind === 'sentence') ? shown.beats.beats.length : 0;
  const player = usePlayer(stage, { ...rhythmOf(shown), count, readMs: () => 0 });

  useEffect(() => {
    let isLeft = false;
    void engine.ask('stand', { ...task, way }).then((now) => {
      if (isLeft) return;
      // The button that was pressed goes away: the first of the new ones is the next.
      const hasFocus = moves.current?.contains(document.activeElement);
      setStanding(now);
      advise(undefined);
      if (hasFocus) requestAnimationFrame(() => moves.current?.querySelector('button')?.focus());
    });
    return () => {
      isLeft = true;
    };
  }, [way]);
  useEffect(() => void engine.ask('orders', { ...task, way: [] }).then(setOrders), []);
  // What was chosen is seen to happen; what was undone is gone at once.
  useEffect(() => {
    if (player.pos < count) player.play();
    else player.go(count);
  }, [standing]);

  const undo = () => way.length > 0 && setWay(way.slice(0, -1));
  async function hint() {
    if (isOver) return;
    const { next } = await engine.ask('orders', { ...task, way });
    advise(next ?? -1);
  }
  useKeys(({ key, repeat }) => {
    if (repeat) return false;
    if (/^[1-9]$/.test(key) && Number(key) <= standing.moves.length) setWay([...way, Number(key) - 1]);
    else if (key === 'u') undo();
    else if (key === 'h') void hint();
    else return false;
    return true;
  });

  const scope = saysOfScope(task.scope);
  const begins = { big: texts[task.aim], small: bothOf(`${scope ? searchSaid(scope) : ''} ${say('schedule')}`) };
  return html`<article class="step scheduler">
    <div class="first">
    <section class="show">
      <p class="sides"><b>${say('scheduler')}</b> <small>${stage}</small>
        <button class="next" onClick=${() => go({ part: undefined }, true)}>← ${say('backToStep')}</button></p>
      ${standing.events.length > 0 ? html`<${Playing} shown=${shown} pos=${Math.min(player.pos, count)} begins=${begins} go=${player.go} />` : html`<${Sentence} said=${begins} /><p class="canvas wait" role="status">${say('opening')}</p><div class="lanes" />`}
      <div class="controls">
        <button onClick=${undo} aria-disabled=${way.length === 0}>${say('undo')} <kbd>u</kbd></button>
        <button onClick=${() => way.length > 0 && setWay([])} aria-disabled=${way.length === 0}>${say('again')}</button>
        <button onClick=${hint} aria-disabled=${isOver}>${say('hint')} <kbd>h</kbd></button>
        <span class="next">${say('made', { n: way.length })}</span>
      </div>
    </section>
    <section class="ask">
      ${
        isOver
          ? html`<${Outcome} standing=${standing} orders=${orders} />`
          : html`<p><b>${say('moves')}</b></p>
        <ol class="moves" ref=${moves}>
          ${standing.moves.map((move, index) => html`<li><button class=${index === advice ? 'main' : ''} onClick=${() => setWay([...way, index])}><kbd>${index + 1}</kbd> ${moveSaid(move, shown.beats.scenes.at(-1) as Scene)}</button></li>`)}
        </ol>
        <p role="status">${advice === -1 && say('noHint')}</p>`
      }
    </section>
    </div>
    <${Code} files=${files} stage=${stage} scene=${standing.events.length > 0 ? sceneAt(shown, player.pos) : undefined} />
  </article>`;
}

const bothOf = (text: string) => [text, text] as const;

/** After a win: in how many interleavings it breaks. */
function Outcome({ standing: { broken }, orders }: { standing: Standing; orders: Orders | undefined }) {
  const won = broken !== undefined;
  return html`<p role="status" class=${won ? 'outcome lost' : 'outcome'}><b>${say(won ? 'brokeIt' : 'unbroken')}</b> ${broken && searchSaid(broken)}</p>
    <p>${orders === undefined ? say('counting') : say(orders.broken === 0 ? 'neverBreaks' : 'breaksIn', { orders: inNumber(orders.orders), broken: inNumber(orders.broken) })}</p>`;
}
