import { beyond } from './catalogue/beyond.ts';
import { contract } from './catalogue/contract.ts';
import { harness } from './catalogue/harness.ts';
import { judgements } from './catalogue/judgements.ts';
import { lua } from './catalogue/lua.ts';
import { orders } from './catalogue/orders.ts';
import { prove } from './catalogue/prove.ts';
import { report } from './catalogue/report.ts';
import { service } from './catalogue/service.ts';
import { stack } from './catalogue/stack.ts';
import { stages } from './catalogue/stages.ts';
import type { Mutation } from './mutation.ts';

/** Every mutation, area by area. */
export const catalogue: Mutation[] = [
  ...stages,
  ...judgements,
  ...lua,
  ...beyond,
  ...service,
  ...orders,
  ...stack,
  ...harness,
  ...contract,
  ...report,
  ...prove,
];
