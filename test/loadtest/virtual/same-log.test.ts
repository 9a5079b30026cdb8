import { expect, test } from 'vitest';
import { fileOfPeer } from '../../../loadtest/peers/peer.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { addExternalRow } from '../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../loadtest/virtual/play.ts';
import type { LockSource } from '../../../virtual/lock-service.ts';

const redlock5: LockSource = {
  name: 'redlock-5',
  file: fileOfPeer('redlock'),
  facts: { backend: 'masters', isExternal: true },
};
addExternalRow(redlock5.name, 'masters');

test.each<[string, string, LockSource?]>([
  ['crashed-holder', '4-ttl'],
  ['paused-process', 'fenced'],
  ['failover', '8-auto-renew'],
  ['rush', 'cohort'],
  // Its waiters wait for a random time.
  ['late-votes', 'redlock'],
  // A package that brings its own client: that speaks over sockets.
  ['late-votes', 'redlock-5', redlock5],
])('%s under %s: two runs have one log, to the nanosecond', async (name, stage, lock) => {
  const drill = drills.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);

  const play = () => playDrill(drill, stage, lock && { lock });
  const [first, second] = [await play(), await play()];

  expect(first.log.length).toBeGreaterThan(20);
  expect(second).toEqual(first);
});
