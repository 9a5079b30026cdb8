// The members of what is sent or written as JSON, from its JSON Schema.

import { z } from 'zod';
import { codeOf, tableOf } from './markdown.ts';

/** What is read of a JSON Schema. */
export interface JsonSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

/** Larger than any limit that somebody chose. */
const NO_LIMIT = 2 ** 31;

/** What may be sent, or is written. A schema with a name of its own is defined apart, and is meant here. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const found = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const name = found.$ref?.split('/').at(-1);
  return (name !== undefined && found.$defs?.[name]) || found;
}

/** A row for each member: its name, with that of what it is in; what it may be; and what its schema says of it. */
export function membersOf(schema: JsonSchema, within = ''): [name: string, type: string, says: string][] {
  const inner = schema.items ?? schema;
  const { properties = {}, required = [] } = inner;
  return Object.entries(properties).flatMap(([name, member]) => {
    const isMany = member.type === 'array';
    const path = `${within}${name}${isMany ? '[]' : ''}`;
    const own: [string, string, string] = [
      codeOf(`${path}${required.includes(name) ? '' : '?'}`),
      typeOf(member),
      member.description ?? '',
    ];
    return [own, ...membersOf(member.items ?? member, `${path}.`)];
  });
}

/** What a value may be, in a few words. */
export function typeOf(schema: JsonSchema): string {
  const { type, anyOf, items, $ref } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return codeOf(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((each) => codeOf(String(each))).join(', ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (items) return items.properties ? 'list' : `list of ${typeOf(items)}`;
  if (schema.prefixItems) return `${schema.prefixItems.length} values`;
  if (schema.format === 'date-time') return 'time';
  if (typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null)
    return `${typeOf(schema.additionalProperties)}, by name`;
  const { minimum = -NO_LIMIT, maximum = NO_LIMIT } = schema;
  const isBounded = maximum < NO_LIMIT;
  return `${[type].flat().join(' or ')}${isBounded ? ` ${minimum}–${maximum}` : ''}`;
}

/** The members, below this heading. Those whose names say everything stand in its line, with a type where it is not a plain one. */
export function sectionOf(heading: string, schema: JsonSchema): string {
  const members = membersOf(schema);
  const described = members.filter(([, , says]) => says !== '');
  // What an object has stands behind it.
  const plain = members
    .filter(([, type, says]) => says === '' && !['object', 'list'].includes(type))
    .map(([name, type]) => (['string', 'integer', 'number', 'boolean'].includes(type) ? name : `${name} (${type})`));
  if (members.length === 0) return '';
  const line = [heading, plain.join(', ')].filter(Boolean).join(': ');
  if (described.length === 0) return line;
  return `${line}\n\n${tableOf(['member', 'type', 'means'], described)}`;
}
