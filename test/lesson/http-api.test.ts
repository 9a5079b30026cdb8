import { expect, test } from 'vitest';
import { problems } from '../../services/inventory/problem.ts';
import { readText } from './project-files.ts';

/** nginx answers with this one, when a node does not. */
const OF_NGINX = { NODE_UNAVAILABLE: 502 };

const answered = {
  ...Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status])),
  ...OF_NGINX,
};

/** The status of each code in the tables of docs/http-api.md, whose rows open with | `CODE` | status |. */
function documented() {
  const rows = readText('docs/http-api.md').matchAll(/^\| *`([A-Z][A-Z_]+)` *\| *(\d+) *\|/gm);
  return [...rows].map(([, code, status]) => [code as string, Number(status)] as const);
}

test.each(Object.entries(answered))('http-api: %s is documented, with the status %i', (code, status) => {
  expect(documented().filter(([known]) => known === code)).toEqual([[code, status]]);
});

test('http-api: every documented code is one that is answered', () => {
  const unknown = documented().filter(([code]) => !(code in answered));

  expect(documented()).not.toEqual([]);
  expect(unknown).toEqual([]);
});

test('http-api: nginx answers NODE_UNAVAILABLE with 502', () => {
  expect(readText('nginx/nginx.conf.template')).toMatch(/return 502 '\{.*"status":502,.*"code":"NODE_UNAVAILABLE"/);
});
