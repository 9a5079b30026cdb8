// The admin API of a node: its calls, and the members of what is sent and answered.

import type { z } from 'zod';
import { adminCalls } from '../../services/inventory/admin/contract.ts';
import { jobScheduleSchema } from '../../services/inventory/orders/contract.ts';
import { saleEventSchema } from '../../services/inventory/sale/contract.ts';
import { jsonSchemaOf, sectionOf } from './json-schema.ts';
import { capitalized, codeOf, tableOf } from './markdown.ts';

export function adminApi(): string {
  const calls = Object.entries(adminCalls).map(([call, { does }]) => [codeOf(call), does]);
  const uses = new Map<z.ZodType, string[]>();
  for (const [call, { body, answer }] of Object.entries(adminCalls)) {
    if (body) addTo(uses, body, `body of ${codeOf(call)}`);
    if (answer) addTo(uses, answer, `answer of ${codeOf(call)}`);
  }
  const named = [saleEventSchema, jobScheduleSchema].map((schema) =>
    sectionOf(codeOf(String(schema.meta()?.['id'])), jsonSchemaOf(schema)),
  );
  const sections = [...uses].map(([schema, those]) => sectionOf(capitalized(those.join(', ')), jsonSchemaOf(schema)));
  return [tableOf(['call', 'does'], calls), ...sections, ...named].filter(Boolean).join('\n\n');
}

function addTo(uses: Map<z.ZodType, string[]>, schema: z.ZodType, use: string) {
  uses.set(schema, [...(uses.get(schema) ?? []), use]);
}
