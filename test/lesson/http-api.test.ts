import { expect, test } from 'vitest';
import { problems } from '../../services/inventory/problem.ts';
import { listDeep, readText } from './project-files.ts';

test('http-api: nginx answers with a code that the page names', () => {
  expect(readText('nginx/nginx.conf.template')).toMatch(/return 502 '\{.*"status":502,.*"code":"NODE_UNAVAILABLE"/);
  expect(readText('docs/reference/http-api.md')).toContain('`NODE_UNAVAILABLE` (502,');
});

test('http-api: an answer that a page shows has the title, the status and the code that are answered', () => {
  const pages = listDeep().filter((file) => file.endsWith('.md'));
  const shown = pages.flatMap((file) => [
    ...readText(file).matchAll(/"title":"([^"]+)","status":(\d+)[^\n]*?"code":"(\w+)"/g),
  ]);
  const known = Object.entries(problems).map(([code, { title, status }]) => `${title} ${status} ${code}`);

  expect(shown.map(([, ...parts]) => parts.join(' ')).filter((answer) => !known.includes(answer))).toEqual([]);
});
