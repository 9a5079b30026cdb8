import { expect, test } from 'vitest';
import { createMetrics } from '../../services/inventory/metrics.ts';
import { readText } from './project-files.ts';

const page = readText('docs/production.md');

test('docs/production.md: every metric that it watches is one that a node shows', async () => {
  const { registry } = createMetrics();
  const shown = registry.getMetricsAsArray().map(({ name }) => name);
  const named = [...page.matchAll(/\b(?:lockstep|nodejs)_[a-z_0-9]+/g)].map(([name]) => name.replace(/_bucket$/, ''));

  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((name) => !shown.includes(name))).toEqual([]);
});

test('docs/production.md: every outcome that it watches is one that docs/http-api.md has', () => {
  const [, outcomes = ''] = /sales by outcome: (.*?)\|/.exec(readText('docs/http-api.md')) ?? [];
  const known = [...outcomes.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const named = [...page.matchAll(/outcome="(\w+)"/g)].map(([, name]) => name);

  expect(known.length).toBeGreaterThan(4);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

test('docs/production.md: every setting that it names is one of the project', () => {
  const named = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name);

  expect(named).not.toEqual([]);
  expect(named.filter((name) => !readText('.env.example').includes(`${name}=`))).toEqual([]);
});
