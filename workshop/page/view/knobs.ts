// The knobs of a step: their values make a scenario file, which the lab plays.

import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import { type Fault, faultNames, faults, type Knobs, type Lesson, lessons, limits } from '../../picture/lessons.ts';
import { say, type Text } from './texts.ts';

interface DialsProps {
  lesson: Lesson;
  knobs: Knobs;
  tune(knobs: Knobs): void;
  /** What comes of it. */
  children: unknown;
}

/** The step of the time sliders, in milliseconds. */
const STEP_MS = 50;
/** The faults of a node, as opposed to a message of A. */
const OF_NODE = new Set<Fault>(['pause', 'kill', 'cut']);

export function Dials({ lesson, knobs, tune, children }: DialsProps) {
  const { leaseMs, takesMs, buyers, fault, faultAt, stage = lesson.stage } = knobs;
  const change = (more: Partial<Knobs>) => tune({ ...knobs, ...more });
  const isOver = takesMs > leaseMs;
  const time = (name: 'leaseMs' | 'takesMs', label: Text) => {
    const value = knobs[name];
    const [least, most] = limits[name];
    return html`<label class=${`time ${name}`}><span>${say(label)}</span>
      <input type="range" min="0" max=${most} step=${STEP_MS} value=${value} aria-valuetext=${`${value} ms`}
        onInput=${({ target }: Event) => change({ [name]: Math.max(least, Number((target as HTMLInputElement).value)) })} />
      <output>${value} ms</output></label>`;
  };
  const select = (
    label: string,
    value: string | number,
    options: [string | number, string][],
    set: (value: string) => void,
  ) =>
    html`<label>${label} <select value=${value} onChange=${({ target }: Event) => set((target as HTMLSelectElement).value)}>
      ${options.map(([each, name]) => html`<option value=${each} selected=${each === value}>${name}</option>`)}
    </select></label>`;
  return html`<div class=${isOver ? 'dials over' : 'dials'}>
    <p class="times">${time('takesMs', 'takes')}${time('leaseMs', 'lease')}</p>
    <p class="bar">
      ${select(
        say('fault'),
        fault,
        faults.map((each) => [each, inLanguage(faultNames[each])]),
        (each) => change({ fault: each as Fault }),
      )}
      ${
        OF_NODE.has(fault) &&
        select(
          say('atNode'),
          faultAt,
          [
            [1, 'node-1'],
            [2, 'node-2'],
          ],
          (each) => change({ faultAt: Number(each) as 1 | 2 }),
        )
      }
      ${select(
        say('buyers'),
        buyers,
        [1, 2, 3, 4].map((each) => [each, String(each)]),
        (each) => change({ buyers: Number(each) }),
      )}
      ${select(
        say('after'),
        stage,
        lessons.map((each) => [each.stage, each.stage]),
        (each) => change({ stage: each }),
      )}
      <${PageText} text=${lesson.page(knobs)} stage=${stage} />
      <button aria-disabled=${knobs === lesson.usual} onClick=${() => tune(lesson.usual)}>${say('reset')}</button>
    </p>
    ${children}
  </div>`;
}

/** The scenario file from the knobs, which can be played outside of the page too. */
function PageText({ text, stage }: { text: string; stage: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard?.writeText(text).catch(() => {});
    setCopied(true);
  }
  function open() {
    setCopied(false);
    dialog.current?.showModal();
  }
  return html`<button onClick=${open}>${say('asText')}</button>
    <dialog ref=${dialog} aria-label=${say('asText')}>
      <form method="dialog"><button aria-label=${say('close')}>✕</button></form>
      <p>${say('playIt')} <code>npm run drill -- ./my.txt --stage ${stage}</code></p>
      <pre tabindex="0">${text}</pre>
      <p><button class="main" onClick=${copy}>${say(isCopied ? 'isShared' : 'copy')}</button></p>
    </dialog>`;
}
