import { expect, test } from 'vitest';
import { readAnswer } from '../../../loadtest/evidence/answers.ts';

const sale = { outcome: 'sold', saleId: '0001', node: 'node-1', stockBefore: 5, remaining: 4 };
const problem = (code: string, definite: boolean) => JSON.stringify({ title: '', status: 0, code, definite });

test.each([
  ['a sale', 200, JSON.stringify(sale), 'sold'],
  ['sold out', 409, problem('OUT_OF_STOCK', true), 'soldOut'],
  ['a lock that was not free', 503, problem('LOCK_WAIT_TIMEOUT', true), 'lockTimeout'],
  ['any other problem', 503, problem('STORE_UNAVAILABLE', true), 'failed'],
  ['a problem that is not definite, whatever its code', 409, problem('LOCK_NOT_HELD', false), 'inDoubt'],
  ['a sale that nginx does not know of', 502, problem('NODE_UNAVAILABLE', false), 'inDoubt'],
  ['a sale with the status of an error', 500, JSON.stringify(sale), 'nonsense'],
  ['a problem with the status of a sale', 200, problem('OUT_OF_STOCK', true), 'nonsense'],
  [
    'a problem that does not say whether it is definite',
    503,
    JSON.stringify({ code: 'STORE_UNAVAILABLE' }),
    'nonsense',
  ],
  ['what is not JSON', 200, '<html>', 'nonsense'],
])('answer: %s', (_what, status, body, outcome) => {
  expect(readAnswer(status, body).outcome).toBe(outcome);
});
