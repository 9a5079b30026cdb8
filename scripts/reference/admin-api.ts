// The admin API of a node: its calls, and the members of what is sent and answered.

import type { z } from 'zod';
import { adminCalls } from '../../services/inventory/admin/contract.ts';
import { jobScheduleSchema } from '../../services/inventory/orders/contract.ts';
import { saleEventSchema } from '../../services/inventory/sale/contract.ts';
import { jsonSchemaOf, sectionOf } from './json-schema.ts';
import { capitalized, codeOf } from './markdown.ts';

type Role = 'body' | 'answer';

export function adminApi(): string {
  const calls = Object.entries(adminCalls).map(([call, { does }]) => `- ${codeOf(call)}: ${does}`);
  const uses = new Map<z.ZodType, [role: Role, call: string][]>();
  for (const [call, { body, answer }] of Object.entries(adminCalls)) {
    if (body) uses.set(body, [...(uses.get(body) ?? []), ['body', call]]);
    if (answer) uses.set(answer, [...(uses.get(answer) ?? []), ['answer', call]]);
  }
  const named = [saleEventSchema, jobScheduleSchema].map((schema) =>
    sectionOf(codeOf(String(schema.meta()?.['id'])), jsonSchemaOf(schema)),
  );
  const sections = [...uses].map(([schema, those]) => sectionOf(headingOf(those), jsonSchemaOf(schema)));
  return [calls.join('\n'), ...sections, ...named].filter(Boolean).join('\n\n');
}

/** Of one call its body, its answer, or both; or the answer of some. */
function headingOf(uses: [role: Role, call: string][]): string {
  const [roles, calls] = [0, 1].map((at) => [...new Set(uses.map((use) => use[at]))]) as [string[], string[]];
  return `${capitalized(roles.join(' and '))} of ${calls.map(codeOf).join(' and ')}`;
}
