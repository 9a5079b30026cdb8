// The members of what is sent or written as JSON, from its JSON Schema.

import { z } from 'zod';
import { codeOf } from './markdown.ts';

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

/** What a value may be, in a few words. */
export function typeOf(schema: JsonSchema): string {
  const { type, anyOf, items, $ref } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return codeOf(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((each) => codeOf(String(each))).join(', ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (items) return items.properties ? 'list' : typeOf(items);
  if (schema.prefixItems) return `${schema.prefixItems.length} values`;
  if (schema.format === 'date-time') return 'time';
  if (typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null)
    return `${typeOf(schema.additionalProperties)}, by name`;
  const { minimum = -NO_LIMIT, maximum = NO_LIMIT } = schema;
  const isBounded = maximum < NO_LIMIT;
  return isBounded ? `${minimum}–${maximum}` : [type].flat().join(' or ');
}

/** Types that the meaning of a member tells; what an object has stands below it. */
const EVIDENT = ['string', 'integer', 'number', 'object', 'list'];

/** The members, below this heading: as a list, or in its line where their names say everything. */
export function sectionOf(heading: string, schema: JsonSchema): string {
  const lines = linesOf(schema);
  if (lines.length === 0) return '';
  const [first = ''] = lines;
  if (lines.length === 1 && !first.includes(': ')) return [heading, first].filter(Boolean).join(': ');
  return [heading && `${heading}:`, lines.map((line) => line.replace(/^( *)/, '$1- ')).join('\n')]
    .filter(Boolean)
    .join('\n\n');
}

/** A line for the members whose names say everything, then one for each other member, with what it has indented below it. */
function linesOf(schema: JsonSchema): string[] {
  const { properties = {}, required = [] } = schema.items ?? schema;
  const members = Object.entries(properties).map(([name, member]) => {
    const type = typeOf(member);
    const path = `${name}${member.type === 'array' ? '[]' : ''}${required.includes(name) ? '' : '?'}`;
    return {
      name: EVIDENT.includes(type) ? codeOf(path) : `${codeOf(path)} (${type})`,
      says: member.description ?? '',
      below: linesOf(member.items ?? member),
    };
  });
  const isPlain = ({ says, below }: (typeof members)[number]) => says === '' && below.length === 0;
  const plain = members.filter(isPlain).map(({ name }) => name);
  const others = members
    .filter((member) => !isPlain(member))
    .flatMap(({ name, says, below }) => {
      const [first = ''] = below;
      if (says === '' && below.length === 1) return [`${name}: ${first}`];
      return [[name, says].filter(Boolean).join(': '), ...below.map((line) => `  ${line}`)];
    });
  return plain.length > 0 ? [plain.join(', '), ...others] : others;
}
