// Why a verdict is what it is, in English: a sentence for each form. The Chinese is in reasons.zh.ts.

import { type FormsOf, type Given, type Sentence, worded } from '../../virtual/wording.ts';

export const reasons = {
  /** A sentence that has no form of its own. */
  text: ({ text }: { text: string }) => text,
};

export type ReasonForms = FormsOf<typeof reasons>;
/** A sentence of a verdict. */
export type Reason = Sentence<ReasonForms>;

export const because = <Form extends keyof ReasonForms>(form: Form, ...[values]: Given<ReasonForms[Form]>) =>
  ({ form, values: values ?? {} }) as Reason;

/** The sentence in English. */
export const reasoned = (reason: Reason): string => worded<ReasonForms>(reasons, reason);
