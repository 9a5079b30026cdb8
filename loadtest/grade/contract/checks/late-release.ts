// Each command of release() is late: it reaches Redis when another holder is inside.

import { NotStagedError } from '../../../evidence/not-staged.ts';
import { type Bed, STEP_LIMIT_MS } from '../bed.ts';
import { endOf, fails, holds, saidOf } from '../outcome.ts';

export async function lateRelease(bed: Bed) {
  const { release } = bed.survey;
  const outcomes = await Promise.all(release.map((_, at) => hold(bed, at)));
  return outcomes.find((outcome) => outcome !== undefined) ?? holds(`${release.length} held: the others stayed out.`);
}

async function hold(bed: Bed, at: number) {
  const trial = bed.trial();
  const [a, b, c] = [await trial.holder(0), await trial.holder(1), await trial.holder(1)];
  await trial.enter(a, 'A');
  const held = a.client.hold(at);
  const releasing = a.release();
  const arrival = await endOf(held.arrived, STEP_LIMIT_MS);
  if (arrival.how !== 'done') throw new NotStagedError(`Command ${at + 1} of release() did not come.`);
  const { name } = await held.arrived;
  trial.say(`A releases, and its ${name} is held on its way`);
  await trial.endLease();
  await trial.enter(b, 'B');
  await held.letGo();
  trial.say(`the ${name} reaches Redis; release() ${saidOf(await endOf(releasing, STEP_LIMIT_MS))}`);
  const isOut = await trial.isKeptOut(c, 'C');
  const leaving = await endOf(b.release(), STEP_LIMIT_MS);
  if (isOut && leaving.how === 'done') return undefined;
  trial.say(`B releases: release() ${saidOf(leaving)}`);
  return fails(
    `The late ${name} of A's release freed the lock of B${isOut ? '' : ', and C entered while B was inside'}.`,
    trial.steps,
  );
}
