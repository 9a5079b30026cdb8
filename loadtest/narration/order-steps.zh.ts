// What happened in a step of a drill of the orders, in Chinese.

import type { FormsOf, Wording } from '../../virtual/wording.ts';
import type { orderSteps } from './order-steps.ts';

export const orderStepsInChinese: Wording<FormsOf<typeof orderSteps>> = {};
