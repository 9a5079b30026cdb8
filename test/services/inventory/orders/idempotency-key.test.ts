import { expect, test } from 'vitest';
import { readKey } from '../../../../services/inventory/orders/idempotency/index.ts';

test.each([
  ['a String, as the draft asks for', '"8e03978e-40d5"', '8e03978e-40d5'],
  ['the same without quotes', '8e03978e-40d5', '8e03978e-40d5'],
  ['every sign that a String may have', '" !#$%&\'()*+,-./:;<=>?@[]^_`{|}~"', " !#$%&'()*+,-./:;<=>?@[]^_`{|}~"],
  ['the two signs that need a backslash', String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ['255 signs, each with a backslash', `"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
])('Idempotency-Key: %s', (_what, header, key) => {
  expect(readKey(header)).toBe(key);
});

test.each([
  ['nothing', '', /must be one string/],
  ['an empty text', '""', /must not be empty/],
  ['a quote inside', '"a"b"', /must be one string/],
  ['two keys', '"a", "b"', /must be one string/],
  ['a parameter', '"a";v=1', /must be one string/],
  ['a sign beyond ASCII', '"schlüssel"', /must be one string/],
  ['256 signs', `"${'k'.repeat(256)}"`, /must not be longer than 255/],
])('Idempotency-Key: %s is refused', (_what, header, detail) => {
  expect(() => readKey(header)).toThrow(expect.objectContaining({ code: 'IDEMPOTENCY_KEY_INVALID' }));
  expect(() => readKey(header)).toThrow(detail);
});
