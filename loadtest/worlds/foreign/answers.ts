// The responses of an unknown service. Each kind is recognised by the parts that do not differ between sales.

import type { SaleAnswer } from '../../evidence/answers.ts';
import type { ServiceTold } from '../../evidence/judgement.ts';
import { shortened } from './command-kinds.ts';

/** Masks the parts of a text that differ between sales: `#` for a number, `~` for long parts and for mixed letters and digits, such as ids. */
export const masked = (text: string) =>
  text
    .replace(/[\w-]{16,}|(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}/gi, '~')
    .replace(/-?\d+/g, '#')
    .trim();

export const maskOf = (status: number, body: string) => `${status} ${masked(body)}`.trim();

/** Reads a response by these masks. A response that matches none does not say whether the sale took place. */
export function readByMask({ sold, soldOut, busy }: ServiceTold['answers'], status: number, body: string): SaleAnswer {
  const mask = maskOf(status, body);
  if (mask === sold) return { outcome: 'sold' };
  if (mask === soldOut) return { outcome: 'soldOut', code: 'OUT_OF_STOCK' };
  if (mask === busy) return { outcome: 'lockTimeout', code: 'LOCK_WAIT_TIMEOUT' };
  return { outcome: 'inDoubt', code: shortened(`${status} ${body}`, 60) };
}
