// Why a verdict is what it is, in Chinese.

import { type Wording, worded } from '../../virtual/wording.ts';
import { orderReasonsInChinese } from './order-reasons.zh.ts';
import type { Reason, ReasonForms } from './reasons.ts';

const reasonsInChinese: Wording<ReasonForms> = {
  text: ({ text }) => text,
  ...orderReasonsInChinese,
};

/** The sentence in Chinese. */
export const reasonedInChinese = (reason: Reason): string => worded<ReasonForms>(reasonsInChinese, reason);
