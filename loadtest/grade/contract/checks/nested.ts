// A holder acquires its own lock again, where that is promised: it holds until it has released as often.

import { type Bed, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds, saidOf } from '../outcome.ts';

const AGAIN_MS = 1_000;

export async function nested(bed: Bed) {
  const trial = bed.trial();
  const [a, b, c] = [await trial.holder(0), await trial.holder(1), await trial.holder(1)];
  await trial.enter(a, 'A');
  const asked = a.acquire();
  const again = await endOf(asked, AGAIN_MS);
  trial.say(`A acquires again: acquire() ${saidOf(again)}`);
  if (again.how !== 'done') {
    await a.abort();
    await endOf(asked, STEP_LIMIT_MS);
    await endOf(a.release(), STEP_LIMIT_MS);
    const said = `A holder that asks for its own lock again waits for itself: acquire() ${saidOf(again)}`;
    return bed.promises.reentry ? fails(`${said}.`, trial.steps) : doesNotApply(`${said}. It does not promise more.`);
  }
  await endOf(a.release(), STEP_LIMIT_MS);
  trial.say('A releases once');
  if (!(await trial.isKeptOut(b, 'B'))) {
    return fails('A had acquired twice and released once, and B entered.', trial.steps);
  }
  const left = await endOf(a.release(), STEP_LIMIT_MS);
  trial.say(`A releases again: release() ${saidOf(left)}`);
  if (left.how !== 'done') return fails(`The second release() ${saidOf(left)}.`, trial.steps);
  const next = await endOf(c.acquire(), STEP_LIMIT_MS);
  if (next.how !== 'done') return fails('A had acquired and released twice, and the lock was not free.', trial.steps);
  await endOf(c.release(), STEP_LIMIT_MS);
  return holds('A holder may acquire its own lock again, and holds until it has released as often.');
}
