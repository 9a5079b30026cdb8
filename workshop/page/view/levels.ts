// The levels of "you are the scheduler": each stage in a fault model that breaks it, and a lock that nothing breaks.

import type { GameTask } from '../game.ts';
import type { Text } from './texts.ts';

export interface Level extends Omit<GameTask, 'file'> {
  stage: string;
  /** What breaks it. */
  aim: Text;
}

const table: [stage: string, scope: string, aim: Text, demands?: Level['demands']][] = [
  ['0-none', 'plain', 'aimTwice', ['no lost sale']],
  ['1-in-process', 'plain', 'aimTwice', ['no lost sale']],
  ['2-recursive-retry', 'nested-call', 'aimOwn'],
  ['3-spin', 'crashed-holder', 'aimForever'],
  ['4-ttl', 'paused-process', 'aimTwice'],
  ['5-owner-check', 'late-release', 'aimDelete'],
  ['6-lua-release', 'long-sale', 'aimTwice', ['no lost sale']],
  ['7-reentrant', 'paused-process', 'aimTwice'],
  ['8-auto-renew', 'late-write', 'aimTwice'],
  ['fenced', 'late-write', 'aimNever'],
];

export const levels = table.map(([stage, scope, aim, demands]): Level => {
  return { stage, scope, aim, processes: 2, ...(demands && { demands }) };
});
