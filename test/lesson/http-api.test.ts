import { expect, test } from 'vitest';
import { createMetrics } from '../../services/inventory/metrics.ts';
import { problems } from '../../services/inventory/problem.ts';
import { readText } from './project-files.ts';

const page = readText('docs/http-api.md');

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

test('docs/production.md: every metric, outcome and setting that it watches is one that there is', () => {
  const production = readText('docs/production.md');
  const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const [, listed = ''] = /sales by outcome: (.*?)\|/.exec(page) ?? [];
  const kinds = [
    {
      named: namesIn(production, /\b((?:lockstep|nodejs)_[a-z_0-9]+?)(?:_bucket)?(?![a-z_0-9])/g),
      known: createMetrics()
        .registry.getMetricsAsArray()
        .map(({ name }) => name),
    },
    { named: namesIn(production, /outcome="(\w+)"/g), known: namesIn(listed, /`(\w+)`/g) },
    {
      named: namesIn(production, /`([A-Z]+(?:_[A-Z]+)+)`/g),
      known: namesIn(readText('.env.example'), /^(?:# )?([A-Z][A-Z0-9_]*)=/gm),
    },
  ];

  for (const { named, known } of kinds) {
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  }
});
