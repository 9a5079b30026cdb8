// Locks of somebody else in the virtual world, each cell in a process that it may keep for ever.

import { expect, test } from 'vitest';
import type { Verdict } from '../../../../loadtest/evidence/results.ts';
import { sourcesOf } from '../../../../loadtest/grade/external-locks.ts';
import { type Drill, runCell } from '../../../../loadtest/harness/drill.ts';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { usualSettings } from '../../../../loadtest/worlds/simulated/play.ts';
import { simulatedWorld } from '../../../../loadtest/worlds/simulated/world.ts';
import { usualLimits } from '../../../../stack/signs.ts';
import { lockWith, writeModule } from '../../grade/modules.ts';

/** Runs these drills under a lock, and resolves with what came of each. */
async function play(file: string, names: string[], limits = usualLimits) {
  const stage = 'of-somebody';
  const locks = sourcesOf([{ stage, file }]);
  const world = simulatedWorld({ settings: usualSettings, locks, limits });
  const played: [drill: string, verdict: Verdict, reason: string | undefined][] = [];
  for (const name of names) {
    const drill = drills.find((each) => each.name === name) as Drill;
    const { verdict, reasons } = await runCell({ stage, drill }, world);
    played.push([name, verdict, reasons[0]]);
  }
  world.close();
  return played;
}

test('a lock of which the virtual world has all that it imports: it is judged, and held to what a lock must do', async () => {
  const right = writeModule('right-lock.ts', lockWith({}));
  const throwing = writeModule('throwing.ts', lockWith({ acquire: "throw new Error('no key')" }));

  const held = await play(right, ['crashed-holder', 'late-release']);
  expect(held.map(([drill, verdict]) => `${drill} ${verdict}`)).toEqual(['crashed-holder pass', 'late-release pass']);
  expect(await play(throwing, ['crashed-holder'])).toEqual([
    ['crashed-holder', 'fail', 'No sale succeeded: acquire() fails: Error: no key.'],
  ]);
});

test('a lock that never comes back fails every drill, and keeps nobody for long', async () => {
  const endless = writeModule('endless.ts', lockWith({ acquire: 'for (;;) {}' }));

  const played = await play(endless, ['crashed-holder', 'late-write', 'long-sale'], { ...usualLimits, keptMs: 1_000 });

  const reason = 'The lock never returns: it keeps its process busy for ever, as a blocked event loop does.';
  expect(played).toEqual(['crashed-holder', 'late-write', 'long-sale'].map((drill) => [drill, 'fail', reason]));
});

test('a rejection that no code handles ends a node, and so the drill fails', async () => {
  const file = writeModule('unhandled.ts', lockWith({ release: "Promise.reject(new Error('forgotten'));" }));

  expect(await play(file, ['crashed-holder'])).toEqual([
    ['crashed-holder', 'fail', 'A node dies of an unhandled error: Error: forgotten.'],
  ]);
});

test('a lock that imports what is not there is told, with the place', async () => {
  const file = writeModule('by-nobody.ts', `import './nowhere.ts';\n${lockWith({})}`);

  expect(await play(file, ['rush'])).toEqual([
    ['rush', 'unknown', expect.stringMatching(/Could not resolve "\.\/nowhere\.ts"/)],
  ]);
});
