// The admin API of a node: its calls, and the members of what is sent and answered.

import { z } from 'zod';
import { adminCalls } from '../../services/inventory/admin/contract.ts';
import { jobScheduleSchema } from '../../services/inventory/orders/contract.ts';
import { saleEventSchema } from '../../services/inventory/sale/contract.ts';
import { type JsonSchema, membersOf } from './json-schema.ts';
import { capitalized, codeOf, tableOf } from './markdown.ts';

const bodyOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

export function adminApi(): string {
  const calls = Object.entries(adminCalls).map(([call, { does }]) => [codeOf(call), does]);
  const uses = new Map<z.ZodType, string[]>();
  for (const [call, { body, answer }] of Object.entries(adminCalls)) {
    if (body) addTo(uses, body, `body of ${codeOf(call)}`);
    if (answer) addTo(uses, answer, `answer of ${codeOf(call)}`);
  }
  const named = [saleEventSchema, jobScheduleSchema].map((schema) =>
    sectionOf(codeOf(String(schema.meta()?.['id'])), bodyOf(schema)),
  );
  const sections = [...uses].map(([schema, those]) => sectionOf(capitalized(those.join(', ')), bodyOf(schema)));
  return [tableOf(['call', 'does'], calls), ...sections, ...named].filter(Boolean).join('\n\n');
}

function addTo(uses: Map<z.ZodType, string[]>, schema: z.ZodType, use: string) {
  uses.set(schema, [...(uses.get(schema) ?? []), use]);
}

/** The members, below this heading. Those whose names say everything stand in its line. */
function sectionOf(heading: string, schema: JsonSchema): string {
  const members = membersOf(schema);
  const described = members.filter(([, , says]) => says !== '');
  const plain = members.filter(([, , says]) => says === '').map(([name, type]) => `${name} (${type})`);
  if (members.length === 0) return '';
  const line = `${heading}: ${plain.join(', ')}`.trim();
  if (described.length === 0) return line;
  return `${line}\n\n${tableOf(['member', 'type', 'means'], described)}`;
}
