// Locks of somebody else in the virtual world, each cell in a process that it may keep for ever.

import { expect, test } from 'vitest';
import { drills } from '../../../loadtest/drills/index.ts';
import type { Verdict } from '../../../loadtest/evidence/results.ts';
import { sourcesOf, whyNotVirtual } from '../../../loadtest/grade/external-locks.ts';
import { usualSettings } from '../../../loadtest/virtual/play.ts';
import { type PlayAllOptions, playAll } from '../../../loadtest/virtual/play-all.ts';
import { lockWith, writeModule } from '../grade/modules.ts';

/** Plays these drills under a lock, and resolves with what came of each. */
async function play(file: string, names: string[], more: Partial<PlayAllOptions> = {}) {
  const stage = 'of-somebody';
  const chosen = drills.filter(({ name }) => names.includes(name));
  const played: [drill: string, verdict: Verdict, reason: string | undefined][] = [];
  await playAll(
    chosen.map((drill) => ({ stage, drill })),
    {
      settings: usualSettings,
      locks: sourcesOf([{ stage, file }]),
      signal: new AbortController().signal,
      ...more,
      onResult: ({ drill }, { outcome }) => void played.push([drill.name, outcome.verdict, outcome.reasons[0]]),
    },
  );
  return played.toSorted();
}

test('a lock of which the virtual world has all that it imports: it is judged, and held to what a lock must do', async () => {
  const right = writeModule('right-lock.ts', lockWith({}));
  const throwing = writeModule('throwing.ts', lockWith({ acquire: "throw new Error('no key')" }));

  const held = await play(right, ['crashed-holder', 'late-release']);
  expect(held.map(([drill, verdict]) => `${drill} ${verdict}`)).toEqual(['crashed-holder pass', 'late-release pass']);
  expect(await play(throwing, ['crashed-holder'])).toEqual([
    ['crashed-holder', 'fail', 'No sale took place: acquire() fails: Error: no key.'],
  ]);
});

test('a lock that never comes back fails every drill, and keeps nobody for long', async () => {
  const endless = writeModule('endless.ts', lockWith({ acquire: 'for (;;) {}' }));

  const played = await play(endless, ['crashed-holder', 'late-write', 'long-sale'], { silenceMs: 1_000 });

  const reason = 'The lock never comes back: it keeps its process for ever, as when the event loop is blocked.';
  expect(played).toEqual(['crashed-holder', 'late-write', 'long-sale'].map((drill) => [drill, 'fail', reason]));
});

test('a rejection that no code handles ends a node, and so the drill fails', async () => {
  const file = writeModule('unhandled.ts', lockWith({ release: "Promise.reject(new Error('forgotten'));" }));

  expect(await play(file, ['crashed-holder'])).toEqual([
    ['crashed-holder', 'fail', 'A node ends by an error that no code handles: Error: forgotten.'],
  ]);
});

test('a lock that imports what the virtual world does not have is told, with the place', async () => {
  const file = writeModule('by-socket.ts', `import 'node:net';\n${lockWith({})}`);

  expect(await whyNotVirtual([{ stage: 'by-socket', file }])).toMatch(
    /^by-socket can't be played in the virtual world: it imports node:net, which the virtual world does not have/,
  );
});
