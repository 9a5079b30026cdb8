// Sentences of the lab in the language of the page.

import { html } from 'htm/preact';
import { type Reason, reasoned } from '../../../loadtest/narration/reasons.ts';
import { reasonedInChinese } from '../../../loadtest/narration/reasons.zh.ts';
import { narrated, type StepSentence } from '../../../loadtest/narration/steps.ts';
import { narratedInChinese } from '../../../loadtest/narration/steps.zh.ts';
import { spoken } from './texts.ts';

const isChinese = () => spoken() === 'zh';

/** What happened in a step of a scenario. */
export const stepSaid = (sentence: StepSentence) => (isChinese() ? narratedInChinese(sentence) : narrated(sentence));

const reasonSaid = (reason: Reason) => (isChinese() ? reasonedInChinese(reason) : reasoned(reason));

/** The sentences of a verdict. One that has no form of its own is English everywhere. */
export function Reasons({ says }: { says: Reason[] }) {
  return says.map(
    (reason) =>
      html`<span lang=${isChinese() && reason.form === 'text' ? 'en' : undefined}>${reasonSaid(reason)}</span> `,
  );
}
