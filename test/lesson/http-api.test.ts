import { expect, test } from 'vitest';
import { problems } from '../../services/inventory/problem.ts';
import { listDeep, readText } from './project-files.ts';

const page = readText('docs/reference/http-api.md');

test('http-api: the page has every code that is answered, with its status, and no other', () => {
  // The rows of its tables open with | `CODE` | status |.
  const documented = [...page.matchAll(/^\| *`([A-Z][A-Z_]+)` *\| *(\d+) *\|/gm)];
  const answered = Object.entries(problems).map(([code, { status }]) => `${code} ${status}`);

  // nginx answers with this one, when a node does not.
  expect(readText('nginx/nginx.conf.template')).toMatch(/return 502 '\{.*"status":502,.*"code":"NODE_UNAVAILABLE"/);
  expect(documented.map(([, code, status]) => `${code} ${status}`).toSorted()).toEqual(
    [...answered, 'NODE_UNAVAILABLE 502'].toSorted(),
  );
});

test('http-api: an answer that a page shows has the title, the status and the code that are answered', () => {
  const pages = listDeep().filter((file) => file.endsWith('.md'));
  const shown = pages.flatMap((file) => [
    ...readText(file).matchAll(/"title":"([^"]+)","status":(\d+)[^\n]*?"code":"(\w+)"/g),
  ]);
  const known = Object.entries(problems).map(([code, { title, status }]) => `${title} ${status} ${code}`);

  expect(shown.map(([, ...parts]) => parts.join(' ')).filter((answer) => !known.includes(answer))).toEqual([]);
  expect(shown.length).toBeGreaterThan(5);
});
