// You are the scheduler: one chooses what happens next, and breaks the lock.

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { saysOfScope } from '../../../prove/wording.ts';
import type { Orders, Standing } from '../game.ts';
import { Code } from './code.ts';
import type { Engine } from './engine.ts';
import { type Level, levels } from './levels.ts';
import { useKeys } from './player.ts';
import { linesAt, lostAt, momentAt } from './reduce.ts';
import { placeOf, Run } from './run.ts';
import { inNumber, say } from './texts.ts';
import { searchSaid } from './wording.ts';

interface SchedulerProps {
  engine: Engine;
  files: Record<string, string>;
}

const nothing: Standing = { events: [], moves: [] };

export function Scheduler({ engine, files }: SchedulerProps) {
  const [name, setName] = useState('0-none');
  const [way, setWay] = useState<number[]>([]);
  const [standing, setStanding] = useState<Standing>(nothing);
  const [orders, setOrders] = useState<Orders>();
  const [advice, advise] = useState<string>();
  const moves = useRef<HTMLOListElement>(null);
  const task = levels.find(({ stage }) => stage === name) as Level;
  const isOver = standing.events.length > 0 && standing.moves.length === 0;

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
  }, [name, way]);
  useEffect(() => {
    let isLeft = false;
    setOrders(undefined);
    void engine.ask('orders', { ...task, way: [] }).then((found) => isLeft || setOrders(found));
    return () => {
      isLeft = true;
    };
  }, [name]);

  function open(another: string) {
    setStanding(nothing);
    setWay([]);
    setName(another);
  }
  async function hint() {
    if (isOver) return;
    const { next, nearest } = await engine.ask('orders', { ...task, way });
    advise(next === undefined ? say('noHint') : say('hintIs', { n: next + 1, nearest }));
  }
  useKeys(({ key, repeat }) => {
    if (repeat) return false;
    if (/^[1-9]$/.test(key) && Number(key) <= standing.moves.length) setWay([...way, Number(key) - 1]);
    else if (key === 'u' && way.length > 0) setWay(way.slice(0, -1));
    else if (key === 'h') void hint();
    else return false;
    return true;
  });

  const { events } = standing;
  const at = events.at(-1)?.at ?? 0;
  const moment = useMemo(() => momentAt(events, at), [events]);
  const scope = saysOfScope(task.scope);
  const file = [`locks/${name}.ts`, `locks/beyond/${name}.ts`].find((each) => files[each] !== undefined) ?? '';
  return html`<article class="step scheduler">
    <section class="ask">
      <p class="bar">
        <label>${say('level')}${' '}
          <select value=${name} onChange=${(event: Event) => open((event.target as HTMLSelectElement).value)}>
            ${levels.map(({ stage }) => html`<option value=${stage}>${stage}</option>`)}
          </select>
        </label>
        <button onClick=${() => way.length > 0 && setWay(way.slice(0, -1))} aria-disabled=${way.length === 0}>${say('undo')} <kbd>u</kbd></button>
        <button onClick=${() => way.length > 0 && setWay([])} aria-disabled=${way.length === 0}>${say('again')}</button>
        <button onClick=${hint} aria-disabled=${isOver}>${say('hint')} <kbd>h</kbd></button>
      </p>
      <p>${say('schedule')} <b>${scope && searchSaid(scope)}</b></p>
    </section>
    <section class="runs">
      <${Run} title=${say('made', { n: way.length })} events=${events} said=${searchSaid} place=${placeOf(name)} scale=${{ from: 0, until: Math.max(12, at) }} at=${at} />
      <div class="told" role="status">
        ${!isOver && lostAt(moment) > 0 && html`<p>${say('lostAlready')}</p>`}
        ${advice !== undefined && html`<p>${advice}</p>`}
        ${isOver && html`<p class=${standing.broken === undefined ? 'outcome' : 'outcome lost'}>${standing.broken === undefined ? say('unbroken') : searchSaid(standing.broken)}</p>`}
        ${isOver && html`<p>${orders === undefined ? say('counting') : say('orders', { orders: inNumber(orders.orders), broken: inNumber(orders.broken), share: shareOf(orders) })}</p>`}
      </div>
      <ol class="moves" ref=${moves} aria-label=${say('moves')}>
        ${standing.moves.map((move, index) => html`<li><button onClick=${() => setWay([...way, index])}><kbd>${index + 1}</kbd> ${searchSaid(move)}</button></li>`)}
      </ol>
    </section>
    <${Code} file=${file} text=${files[file] ?? ''} at=${linesAt(moment)} />
  </article>`;
}

/** How many of the orders break the lock, as one of so many. */
const shareOf = ({ orders, broken }: Orders) =>
  broken === 0 ? say('none') : say('oneIn', { n: (orders / broken).toFixed(1) });
