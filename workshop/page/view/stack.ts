// The stack: any scenario under any stage on real servers, and free play.

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Control } from '../protocol.ts';
import { type Live, useLive } from './live.ts';
import { RealRun, Trouble } from './real.ts';
import { AskRoom } from './room.ts';
import { say, type Text } from './texts.ts';

export function Stack({ live }: { live: Live }) {
  const { play, run, controls, choices = [] } = useLive(live);
  const [stage, setStage] = useState('1-in-process');
  const [wanted, setDrill] = useState('rush');
  const { drills = [], asked = [] } = choices.find((each) => each.stage === stage) ?? {};
  const drill = drills.includes(wanted) ? wanted : (drills[0] ?? '');
  const isReady = play?.is === 'ready';
  const isOver = isReady || play?.is === 'over';
  const chosen = (set: (value: string) => void) => (event: Event) => set((event.target as HTMLSelectElement).value);
  return html`<article class="stack">
    <p class="bar">
      <label>${say('stage')}${' '}<select value=${stage} onChange=${chosen(setStage)}>
        ${choices.map((each) => html`<option value=${each.stage}>${each.title}</option>`)}
      </select></label>
      <label>${say('scenarioOf')}${' '}<select value=${drill} onChange=${chosen(setDrill)}>
        ${drills.map((each) => html`<option value=${each}>${each}</option>`)}
      </select></label>
      <button class="main" disabled=${!isReady} onClick=${() => live.command({ do: 'play', stage, drill, isLarge: true })}>${say('playReal')}</button>
      <button disabled=${!isReady} onClick=${() => live.command({ do: 'free', stage })}>${say('freePlay')}</button>
      <button disabled=${isOver || play?.is === 'stopping'} onClick=${() => live.command({ do: 'stop' })}>${say('stop')}</button>
      ${play && html`<b role="status">${say(play.is === 'free' ? 'freePlay' : play.is)}</b>`}
    </p>
    <${Trouble} live=${live} />
    ${asked.includes(drill) && html`<${AskRoom} live=${live} stage=${stage} drill=${drill} />`}
    ${controls && html`<${Buttons} controls=${controls} live=${live} />`}
    ${run && html`<${RealRun} key=${run.number} run=${run} isOver=${isOver} />`}
  </article>`;
}

const labels: Record<Control['act'], [on: Text, off?: Text]> = {
  sell: ['sell'],
  rush: ['rush'],
  'hold-sale': ['holdSale', 'letSaleGo'],
  'hold-release': ['holdRelease', 'letGo'],
  'hold-write': ['holdWrite', 'letGo'],
  kill: ['kill', 'start'],
  stop: ['freeze', 'goOn'],
  cut: ['cut', 'mend'],
  block: ['block'],
  'cut-replica': ['cutReplica'],
  'fail-over': ['failOver'],
};

/** What can be done, by the part that it is done to. One that would do nothing is refused, and the server says why. */
function Buttons({ controls, live }: { controls: Control[]; live: Live }) {
  const parts = [...new Set(controls.map(({ at }) => at))];
  return html`<div class="acts">
    ${parts.map(
      (part) => html`<fieldset><legend>${part ?? say('stack')}</legend>
        ${controls
          .filter(({ at }) => at === part)
          .map(({ act, at, isOn, whyNot }) => {
            const [label, off = label] = labels[act];
            return html`<button aria-pressed=${isOn} aria-disabled=${whyNot !== undefined} title=${whyNot}
              onClick=${() => live.command({ do: 'act', act, ...(at && { at }) })}>${say(isOn ? off : label)}</button>`;
          })}
        ${part === undefined && html`<button onClick=${() => live.command({ do: 'undo' })}>${say('undoAll')}</button>`}
      </fieldset>`,
    )}
  </div>`;
}
