import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';
import { isExempt, luckIn } from './tidy.ts';

const files = listDeep('test').filter((file) => file.endsWith('.ts') && !isExempt(file));

test('tidy: no test is a matter of luck', () => {
  expect(files.flatMap((file) => luckIn(file, readText(file)))).toEqual([]);
});

test('tidy: it finds what is a matter of luck, and leaves alone what only looks so', () => {
  const wrong = [
    'await sleep(5);',
    "import { setTimeout as pause } from 'node:timers/promises';",
    'await new Promise((go) => setTimeout(go, 20));',
    'const startedAt = performance.now();',
    'expect(ended - began).toBeLessThan(atMost(500));',
    'expect(\n  answer.tookMs,\n).toBeGreaterThanOrEqual(400);',
    "test('a', { retry: 2 }, run);",
    "server.listen(8080, '127.0.0.1');",
    'const port = 20_000 + Math.floor(Math.random() * 9_000);',
    'fc.assert(fc.property(fc.string(), isRight), { numRuns: 200 });',
    "describe.skip('a', () => {});",
    "describe.concurrent('a', () => {});",
    'await vi.waitFor(() => expect(done).toBe(true));',
    'await expect.poll(read, { timeout: 5_000 }).toBe(1);',
    // A value in a template is code, and so is what stands behind a pattern.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a file.
    'const text = `at ${performance.now()} ms`;',
    'const isIt = /\\/*["\']/.test(text); await sleep(5);',
  ];
  const right = [
    'await lab.sleep(5);',
    "// It may sleep(5) here.\nconst why = 'it calls sleep(5) and setTimeout(go, 5)';",
    'const text = `await sleep(5); const at = performance.now();`;',
    'expect(text).toMatch(/await sleep\\(5\\), Date.now/);',
    "expect(lab.now()).toBe(5_000);\nexpect(lab.redis('PTTL', key)).toBeLessThanOrEqual(LEASE_MS);",
    'const { setTimeout } = world.globals;\nsetTimeout(fire, 20);',
    'vi.useFakeTimers();\nexpect(Date.now()).toBe(0);',
    'const waitedMs = 5;\nexpect(sold.length).toBeLessThan(CAPACITY);',
    "server.listen(0, '127.0.0.1');",
    'test.skipIf(!hasBrowser)(title, run);',
    'const RUNS = { seed: 1, numRuns: 200 };\nfc.assert(fc.property(fc.string(), isRight), RUNS);',
    'await expect.poll(read).toBe(1);',
    'await vi.waitFor(check, { timeout: 120_000 });',
  ];

  expect(wrong.filter((text) => luckIn('a.ts', text).length === 0)).toEqual([]);
  expect(right.flatMap((text) => luckIn('a.ts', text))).toEqual([]);
  const virtual = ['await sleep(5);', 'expect(keptOutMs).toBeGreaterThan(2 * LEASE_MS);', 'Date.now();'];
  expect(virtual.map((text) => luckIn('test/loadtest/virtual/a.ts', text).length)).toEqual([0, 0, 1]);
});
