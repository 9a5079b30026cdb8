// The public listener: its calls, from the OpenAPI document that it serves, and the codes of its problems.

import { openapi } from '../../services/inventory/http/openapi.ts';
import { type ProblemCode, problemMeanings, problems } from '../../services/inventory/problem.ts';
import { type JsonSchema, sectionOf, typeOf } from './json-schema.ts';
import { codeOf, tableOf } from './markdown.ts';

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
  const rows = operations.map(({ call, summary, description = '', parameters = [] }) => {
    const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => codeOf(name));
    return [codeOf(call), `${summary} ${description}`.trim(), query.join(', ')];
  });
  return tableOf(['call', 'does', 'query'], rows);
}

/** Each header and query parameter once, with its description. */
export function parameters(): string {
  const all = operations.flatMap(({ parameters = [] }) => parameters.filter((each) => each.in !== 'path'));
  const first = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  const rows = first.map(({ name, in: place, schema, description }) => [
    codeOf(name),
    place,
    typeOf(schema),
    description ?? schema.description ?? '',
  ]);
  return tableOf(['parameter', 'in', 'type', 'means'], rows);
}

/** The members of the answers to a sale, of an order, and of a problem. */
export function answers(): string {
  const { Sold = {}, Order = {}, Problem = {} } = document.components.schemas;
  // The codes have a table of their own.
  const { code = {}, ...others } = Problem.properties ?? {};
  const problem = { ...Problem, properties: { ...others, code: { ...code, enum: undefined } } };
  return [sectionOf('A sale', Sold), sectionOf('An order', Order), sectionOf('A problem', problem)].join('\n\n');
}

export function problemCodes(): string {
  const codes = Object.keys(problems) as ProblemCode[];
  const rows = codes.map((code) => [codeOf(code), String(problems[code].status), ...problemMeanings[code]]);
  return tableOf(['code', 'status', 'definite', 'means'], rows);
}
