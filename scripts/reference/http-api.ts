// The public listener: its calls, from the OpenAPI document that it serves, and the codes of its problems.

import { openapi } from '../../services/inventory/http/openapi.ts';
import { type ProblemCode, problemMeanings, problems } from '../../services/inventory/problem.ts';
import { type JsonSchema, sectionOf } from './json-schema.ts';
import { codeOf } from './markdown.ts';

interface Operation {
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: JsonSchema; description?: string }[];
}

/** As far as it is shown. */
const document = openapi as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ call: `${method.toUpperCase()} ${path}`, ...operation })),
);

export function calls(): string {
  const lines = operations.map(({ call, summary, description = '', parameters = [] }) => {
    const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => codeOf(name));
    return `- ${codeOf(call)}${query.length > 0 ? ` (${query.join(', ')})` : ''}: ${summary} ${description}`.trim();
  });
  return lines.join('\n');
}

/** Each header and query parameter once, with its description. */
export function parameters(): string {
  const all = operations.flatMap(({ parameters = [] }) => parameters.filter((each) => each.in !== 'path'));
  const first = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  const lines = first.map(({ name, in: place, schema, description = schema.description ?? '' }) => {
    const values = schema.enum?.map((value) => codeOf(String(value))).join(', ');
    const facts = [place === 'header' && 'header', values].filter(Boolean).join('; ');
    return `- ${codeOf(name)}${facts && ` (${facts})`}: ${description}`;
  });
  return lines.join('\n');
}

/** The members of the answers to a sale, of an order, and of a problem. */
export function answers(): string {
  const { Sold = {}, Order = {}, Problem = {} } = document.components.schemas;
  // The codes have a table of their own.
  const { code = {}, ...others } = Problem.properties ?? {};
  const problem = { ...Problem, properties: { ...others, code: { ...code, enum: undefined } } };
  return [sectionOf('A sale', Sold), sectionOf('An order', Order), sectionOf('A problem', problem)].join('\n\n');
}

/** How a code's answer to "did the sale certainly not take place?" is told. Most say yes, and nothing is told of those. */
const definiteness = (definite: string) => (definite === 'no' ? '; not definite' : `; definite ${definite}`);

export function problemCodes(): string {
  const codes = Object.keys(problems) as ProblemCode[];
  const lines = codes.map((code) => {
    const [definite, means] = problemMeanings[code];
    return `- ${codeOf(code)} (${problems[code].status}${definite === 'yes' ? '' : definiteness(definite)}): ${means}`;
  });
  return lines.join('\n');
}
