// The result matrix of the stages as a small table: expected results, nothing measured.

import { type Html, html } from '../../loadtest/report/escape.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { fixes } from '../../loadtest/staircase/lookup.ts';
import { locks } from '../../locks/index.ts';

export type Language = 'en' | 'zh-CN';

/** The meaning of a sign, in both languages, and its colour. */
const signs: Record<string, { en: string; 'zh-CN': string; kind?: 'holds' | 'fails' }> = {
  '✔': { en: 'holds', 'zh-CN': '守住', kind: 'holds' },
  '✘': { en: 'fails, as the lesson shows', 'zh-CN': '失败：这正是它的一课', kind: 'fails' },
  '·': { en: 'nothing expected', 'zh-CN': '无预期' },
  '–': { en: 'nothing to break', 'zh-CN': '没有可破坏的' },
};

/** The legend of the signs. */
export function legend(language: Language): Html {
  return html`${Object.entries(signs).map(([sign, says]) => html`<b class="${says.kind ?? ''}">${sign}\uFE0E</b> ${says[language]}. `)}`;
}

/** The stages, and the drills that they fix, plus the drill that the last stage still fails. */
export function staircasePicture(language: Language): Html {
  const stages = Object.keys(locks);
  const drills = Object.keys(lockStaircase.columns).filter(
    (drill) => drill === 'paused-process' || stages.some((stage) => fixes(stage, drill)),
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="npm run staircase"><table class="staircase">
<thead><tr><td></td>${drills.map((drill) => html`<th scope="col"><span>${drill}</span></th>`)}</tr></thead>
<tbody>${stages.map((stage) => html`<tr><th scope="row">${stage}</th>${drills.map((drill) => cell(stage, drill, language))}</tr>\n`)}</tbody>
</table></div>`;
}

function cell(stage: string, drill: string, language: Language): Html {
  const sign = lockStaircase.rows[stage]?.signs[drill] ?? '';
  const says = signs[sign];
  if (says === undefined) return html`<td></td>`;
  return html`<td class="${says.kind ?? ''}"><span aria-hidden="true">${sign}\uFE0E</span><span class="spoken">${says[language]}</span></td>`;
}
