// Why a verdict is what it is, in English: a sentence for each form. The Chinese is in reasons.zh.ts.

import { type FormsOf, type Sentence, worded } from '../../virtual/wording.ts';
import { orderReasons } from './order-reasons.ts';

export const reasons = {
  /** A sentence that has no form of its own. */
  text: ({ text }: { text: string }) => text,
  ...orderReasons,
};

export type ReasonForms = FormsOf<typeof reasons>;
/** A sentence of a verdict. */
export type Reason = Sentence<ReasonForms>;

export const because = <Form extends keyof ReasonForms>(form: Form, values: ReasonForms[Form]) =>
  ({ form, values }) as Reason;

/** The sentence in English. */
export const reasoned = (reason: Reason): string => worded<ReasonForms>(reasons, reason);
