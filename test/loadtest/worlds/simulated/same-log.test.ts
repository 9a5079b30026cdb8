import { expect, test } from 'vitest';
import { fileOfPeer } from '../../../../loadtest/peers/peer.ts';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { addExternalRow } from '../../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../../loadtest/worlds/simulated/play.ts';
import type { LockSource } from '../../../../simulation/lock-service.ts';

const redlock5: LockSource = {
  name: 'redlock-5',
  file: fileOfPeer('redlock'),
  facts: { backend: 'masters', isExternal: true },
};
addExternalRow(redlock5.name, { backend: 'masters' });

const cells: [name: string, stage: string, lock?: LockSource][] = [
  ['crashed-holder', '4-ttl'],
  ['paused-process', 'fenced'],
  ['failover', '8-auto-renew'],
  ['rush', 'cohort'],
  // Its waiters wait for a random time.
  ['late-votes', 'redlock'],
  // A package that brings its own client: that speaks over sockets.
  ['late-votes', 'redlock-5', redlock5],
];

function play([name, stage, lock]: (typeof cells)[number]) {
  const drill = drills.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  return playDrill(drill, stage, lock && { lock });
}

test.each(cells)('%s under %s: two runs have one log, to the nanosecond', async (...cell) => {
  const [first, second] = [await play(cell), await play(cell)];

  expect(first.log.length).toBeGreaterThan(20);
  expect(second).toEqual(first);
});

test('drills that are played at the same time have the logs that they have alone', async () => {
  const alone: unknown[] = [];
  for (const cell of cells) alone.push(await play(cell));

  expect(await Promise.all(cells.map(play))).toEqual(alone);
});
