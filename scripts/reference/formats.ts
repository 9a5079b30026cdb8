// The files that a run writes: the members of each, from its schema.

import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { benchSchema } from '../../loadtest/bench/results.ts';
import { exchangeSchema, serviceSchema } from '../../loadtest/evidence/judgement.ts';
import {
  answerSchema,
  drillResultSchema,
  findingSchema,
  judgementSchema,
  resultsSchema,
  rushFiguresSchema,
  timelineSchema,
} from '../../loadtest/evidence/results.ts';
import { proofSchema } from '../../loadtest/prove/results.ts';
import { jsonSchemaOf, sectionOf } from './json-schema.ts';
import { codeOf } from './markdown.ts';

/** Those that others name, in the order in which they are first named. */
const named = [
  resultsSchema.shape.environment,
  drillResultSchema,
  rushFiguresSchema,
  timelineSchema,
  answerSchema,
  findingSchema,
  exchangeSchema,
  serviceSchema,
];

export function resultsFormat(): string {
  return [sectionOf('', jsonSchemaOf(resultsSchema)), ...named.map(namedSection)].join('\n\n');
}

/** What it has in common with results.json is told there. */
export function judgeFormat(): string {
  const inResults = jsonSchemaOf(resultsSchema).properties ?? {};
  const schema = jsonSchemaOf(judgementSchema);
  const members = Object.entries(schema.properties ?? {});
  const isShared = ([name, member]: (typeof members)[number]) => isDeepStrictEqual(member, inResults[name]);
  const shared = members.filter(isShared).map(([name]) => codeOf(name));
  const own = sectionOf('', {
    ...schema,
    properties: Object.fromEntries(members.filter((member) => !isShared(member))),
  });
  return `As in results.json: ${shared.join(', ')}. Besides:\n\n${own}`;
}

export const benchFormat = () => sectionOf('', jsonSchemaOf(benchSchema));
export const proveFormat = () => sectionOf('', jsonSchemaOf(proofSchema));

const namedSection = (schema: z.ZodType) => sectionOf(codeOf(String(schema.meta()?.['id'])), jsonSchemaOf(schema));
