// The stack view: any scenario under any stage on real servers, and free play.

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import type { Command, Control } from '../protocol.ts';
import { type Live, useLive } from './live.ts';
import { RealRun, Trouble } from './real.ts';
import { AskRoom } from './room.ts';
import { say, type Text } from './texts.ts';

export function Stack({ live }: { live: Live }) {
  const { play, run, room, controls, choices = [] } = useLive(live);
  const [stage, setStage] = useState('1-in-process');
  const [wanted, setDrill] = useState('rush');
  const { drills = [], asked = [] } = choices.find((each) => each.stage === stage) ?? {};
  const drill = drills.includes(wanted) ? wanted : (drills[0] ?? '');
  const isReady = play?.is === 'ready';
  const isOver = isReady || play?.is === 'over';
  const chosen = (set: (value: string) => void) => (event: Event) => set((event.target as HTMLSelectElement).value);
  // It keeps the focus while it can't be pressed.
  const button = (label: Text, isOn: boolean, command: Command) =>
    html`<button class=${label === 'playReal' ? 'main' : ''} aria-disabled=${!isOn} onClick=${() => isOn && live.command(command)}>${say(label)}</button>`;
  return html`<article class="stack">
    <p class="bar">
      <label>${say('stage')}${' '}<select value=${stage} onChange=${chosen(setStage)}>
        ${choices.map((each) => html`<option value=${each.stage}>${inLanguage(each.title)}</option>`)}
      </select></label>
      <label>${say('scenarioOf')}${' '}<select value=${drill} onChange=${chosen(setDrill)}>
        ${drills.map((each) => html`<option value=${each}>${each}</option>`)}
      </select></label>
      ${button('playReal', isReady, { do: 'play', stage, drill, isLarge: true })}
      ${button('freePlay', isReady, { do: 'free', stage })}
      ${button('stop', !isOver && play?.is !== 'stopping', { do: 'stop' })}
      <${Trouble} live=${live} />
    </p>
    ${asked.includes(drill) && html`<${AskRoom} live=${live} stage=${stage} drill=${drill} />`}
    ${controls && html`<${Buttons} controls=${controls} live=${live} />`}
    ${run && run.number !== room?.question?.runBefore && html`<${RealRun} key=${run.number} run=${run} isOver=${isOver} />`}
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

/** The buttons, by part. The server refuses a button that would do nothing, with the reason. */
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
