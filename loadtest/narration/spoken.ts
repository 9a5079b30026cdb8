// Facts as sentences of the language that is spoken.

import { described, type Sight } from './evidence.ts';
import { describedInChinese } from './evidence.zh.ts';
import { type Deed, labelOf } from './faults.ts';
import { labelInChinese } from './faults.zh.ts';
import { spoken } from './language.ts';
import {
  dayInChinese,
  durationInChinese,
  formatDay,
  formatDuration,
  formatMoment,
  listOf,
  momentInChinese,
} from './numbers.ts';
import { type Reason, reasoned } from './reasons.ts';
import { reasonedInChinese } from './reasons.zh.ts';
import { narrated, type StepSentence } from './steps.ts';
import { narratedInChinese } from './steps.zh.ts';

export const isChinese = () => spoken() === 'zh';

/** Of a text that is there in both languages the one that is spoken. */
export const either = <Text>(english: Text, chinese: Text): Text => (isChinese() ? chinese : english);

/** What happened in a step of a scenario. */
export const stepSaid = (step: StepSentence) => (isChinese() ? narratedInChinese(step) : narrated(step));
/** Why a verdict is what it is. */
export const reasonSaid = (reason: Reason) => (isChinese() ? reasonedInChinese(reason) : reasoned(reason));
/** What was seen, without the full stop. */
export const sightSaid = (sight: Sight) => (isChinese() ? describedInChinese(sight) : described(sight));
/** What the timeline calls a fault. */
export const deedSaid = (deed: Deed) => (isChinese() ? labelInChinese(deed) : labelOf(deed));
/** A length of time. */
export const durationSaid = (ms: number) => (isChinese() ? durationInChinese(ms) : formatDuration(ms));
/** A list. */
export const listSaid = (items: string[]) => either(listOf(items), items.join('、'));
/** Sentences, one after the other. An English one among the Chinese keeps a blank behind it. */
export const sentencesSaid = (sentences: string[]) =>
  sentences
    .filter(Boolean)
    .reduce((text, next) => text + (/[\p{sc=Han}。！？）”：]$/u.test(text) || text === '' ? '' : ' ') + next, '');
/** A day. */
export const daySaid = (iso: string) => either(formatDay(iso), dayInChinese(iso));
/** A moment of a day. */
export const momentSaid = (iso: string) => either(formatMoment(iso), momentInChinese(iso));
