// What happened in a step of a scenario, in Chinese.

import { type FormsOf, type Wording, worded } from '../../virtual/wording.ts';
import { orderStepsInChinese } from './order-steps.zh.ts';
import type { lockSteps, StepForms, StepSentence } from './steps.ts';

const lockStepsInChinese: Wording<FormsOf<typeof lockSteps>> = {
  text: ({ text }) => text,
};

const stepsInChinese: Wording<StepForms> = { ...lockStepsInChinese, ...orderStepsInChinese };

/** The sentence in Chinese. */
export const narratedInChinese = (sentence: StepSentence): string => worded<StepForms>(stepsInChinese, sentence);
