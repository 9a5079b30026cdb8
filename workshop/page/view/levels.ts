// The levels of "you are the scheduler": each stage in a scope of the search that breaks it, and a lock that none breaks.

import type { GameTask } from '../game.ts';

export interface Level extends Omit<GameTask, 'file'> {
  stage: string;
}

const table: [stage: string, scope: string, demands?: Level['demands']][] = [
  ['0-none', 'plain', ['no lost sale']],
  ['1-in-process', 'plain', ['no lost sale']],
  ['2-recursive-retry', 'nested-call'],
  ['3-spin', 'crashed-holder'],
  ['4-ttl', 'paused-process'],
  ['5-owner-check', 'late-release'],
  ['6-lua-release', 'long-sale', ['no lost sale']],
  ['7-reentrant', 'paused-process'],
  ['8-auto-renew', 'late-write'],
  ['fenced', 'late-write'],
];

export const levels = table.map(([stage, scope, demands]): Level => {
  return { stage, scope, processes: 2, ...(demands && { demands }) };
});
