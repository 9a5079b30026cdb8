import { expect, test } from 'vitest';
import { maskOf, readByMask } from '../../../../loadtest/worlds/foreign/answers.ts';

test.each<[what: string, texts: string[], mask: string]>([
  ['numbers', ['sold, 99 left', 'sold, 8 left'], '200 sold, # left'],
  ['a number below zero', ['{"remaining":-3}', '{"remaining":12}'], '200 {"remaining":#}'],
  ['a fraction', ['left: 1.5', 'left: 12.25'], '200 left: #.#'],
  ['a UUID', ['id 0d8f7a3e-4b1c-4f7e-9a55-d0c1b2a3f4e5', 'id 11111111-2222-3333-4444-555555555555'], '200 id ~'],
  ['an id without dashes', ['order 0123456789abcdef0123', 'order FFFFFFFFFFFFFFFFFFFF'], '200 order ~'],
  ['an id that is a long number', ['order 17327838912345678', 'order 17327838912345679'], '200 order ~'],
  ['Chinese', ['扣减成功，库存剩余：99', '扣减成功，库存剩余：7'], '200 扣减成功，库存剩余：#'],
  ['space behind it', ['sold\r\n', 'sold '], '200 sold'],
  ['no text', ['', '\n'], '200'],
])('answers with %s that differs are one answer', (_what, texts, mask) => {
  expect(texts.map((text) => maskOf(200, text))).toEqual(texts.map(() => mask));
});

test('answers with other words, or another status, are others', () => {
  const masks = [maskOf(200, '卖完了'), maskOf(200, '已卖出'), maskOf(409, '卖完了'), maskOf(200, 'sold 1 of 2')];

  expect(new Set(masks).size).toBe(masks.length);
});

test('what an answer says: sold, sold out, not its turn; anything else leaves open whether the sale took place', () => {
  const answers = { sold: '200 sold, # left', soldOut: '200 empty', busy: '503 try again' };
  const read = (status: number, body: string) => readByMask(answers, status, body);

  expect(read(200, 'sold, 3 left')).toEqual({ outcome: 'sold' });
  expect(read(200, 'empty')).toMatchObject({ outcome: 'soldOut' });
  expect(read(503, 'try again')).toMatchObject({ outcome: 'lockTimeout' });
  expect(read(500, 'sold, 3 left')).toEqual({ outcome: 'inDoubt', code: '500 sold, 3 left' });
  expect(readByMask({ sold: answers.sold }, 200, 'empty')).toMatchObject({ outcome: 'inDoubt' });
});
