// What happened in a step of a drill of the orders, in English. The Chinese is in order-steps.zh.ts.

export const orderSteps = {};
