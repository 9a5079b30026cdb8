import { expect, test } from 'vitest';
import type { Scope } from '../../prove/scopes.ts';
import { searchIn, writeLock } from './own-locks.ts';

/** Asks all masters at once, and is inside when so many have given it the key. */
const byVote = (quorum: number) => `
  const deleteOwn = 'return redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("DEL", KEYS[1]) or 0';
  const giveBack = () => Promise.all(masters.map((master) => master.eval(deleteOwn, 1, key, ownerToken)));
  return {
    async acquire() {
      const votes = await Promise.all(masters.map((master) => master.set(key, ownerToken, 'PX', leaseMs, 'NX')));
      if (votes.filter((vote) => vote === 'OK').length < ${quorum}) throw new Error('too few');
    },
    release: giveBack,
  };`;

test('masters that answer differently to one command are told apart: both let one in', async () => {
  const scope: Scope = {
    name: 'votes',
    says: 'Two ask two masters.',
    budget: {},
    servers: 'masters',
    demands: ['alone', 'untouched'],
  };

  expect(await searchIn(writeLock(byVote(2)), scope, { masters: 2 })).toMatchObject({ verdict: 'holds' });
  expect(await searchIn(writeLock(byVote(1)), scope, { masters: 2 })).toMatchObject({ verdict: 'fails' });
});
