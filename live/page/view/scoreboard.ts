// Every scenario under one lock: what it asks, and what came of it.

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Ready } from '../worker.ts';
import type { Engine, Played } from './engine.ts';
import { say } from './texts.ts';

export function Scoreboard({ engine, drills, stages }: Ready & { engine: Engine }) {
  const [stage, choose] = useState(stages[0] ?? '');
  const [results, setResults] = useState<Record<string, Played['record']>>({});

  async function playAll() {
    setResults({});
    for (const { name } of drills) {
      const { record } = await engine.play({ stage, drill: name });
      setResults((before) => ({ ...before, [name]: record }));
    }
  }

  return html`<p class="bar">
      <label>${say('lock')} <select value=${stage} onChange=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>
        ${stages.map((name) => html`<option>${name}</option>`)}
      </select></label>
      <button onClick=${playAll}>${say('playAll')}</button>
    </p>
    <table>
      <thead><tr><th>${say('scenario')}</th><th>${say('verdict')}</th></tr></thead>
      <tbody>
        ${drills.map(({ name, asks }) => {
          const { verdict, reasons = [] } = results[name] ?? {};
          return html`<tr>
            <td>${name}<small lang="en">${asks}</small></td>
            <td class=${verdict}>${verdict && say(verdict)}<small lang="en">${reasons.join(' ')}</small></td>
          </tr>`;
        })}
      </tbody>
    </table>`;
}
