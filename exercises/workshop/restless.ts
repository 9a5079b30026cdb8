// Finds a waiter that asks again and again without a pause: the search would follow it for ever.

import { createMoves, type Move } from '../../prove/moves.ts';
import type { OpenLock } from '../../prove/sandbox.ts';
import { type Scope, scopes } from '../../prove/scopes.ts';
import { openServer } from '../../prove/server.ts';
import { verbOf } from '../../virtual/scripts.ts';

/** A built-in lock sends ten commands at one moment at most. */
const MANY = 60;

/**
 * Lets the first process enter, and stay inside, and follows the second one for as long as time stands still. Resolves with the
 * command that it sends again and again, or with nothing when it rests.
 */
export async function isRestless(openLock: OpenLock, processes: number): Promise<string | undefined> {
  if (processes < 2) return undefined;
  const scope = scopes.find(({ name }) => name === 'plain') as Scope;
  const size = { processes, sales: 1, masters: 0, horizonMs: 1_000 };
  const { begin, movesFrom } = createMoves({ openLock, sales: 1 }, await openServer(), { scope, ...size });
  let state = begin();
  for (const index of [0, 1]) {
    const name = index === 0 ? 'A' : 'B';
    for (let sent = 0; ; ) {
      if (state.actors[index]?.isInside) break;
      const { moves } = await movesFrom(state);
      const move = moves.find((move) => move.step().process === name);
      if (move === undefined) break;
      if (move.step().kind === 'command') sent += 1;
      if (sent > MANY) return commandOf(move);
      state = move.state;
    }
  }
  return undefined;
}

const commandOf = (move: Move) => verbOf(move.step().sent?.command ?? []);
