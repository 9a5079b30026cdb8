// What happened in a step of a scenario, in English: one sentence in the past tense for each form. The Chinese is in steps.zh.ts.

import { type FormsOf, type Sentence, worded } from '../../virtual/wording.ts';
import { orderSteps } from './order-steps.ts';

export const lockSteps = {
  /** What a page says itself, and what has no form of its own. */
  text: ({ text }: { text: string }) => text,
};

/** Every form that a step of a drill may have. */
export const steps = { ...lockSteps, ...orderSteps };
export type StepForms = FormsOf<typeof steps>;
/** What happened in a step. */
export type StepSentence = Sentence<StepForms>;

export const told = <Form extends keyof StepForms>(form: Form, values: StepForms[Form]) =>
  ({ form, values }) as StepSentence;

/** The sentence in English. */
export const narrated = (sentence: StepSentence): string => worded<StepForms>(steps, sentence);
