// Watches a drill that npm run drill plays, as the live page would, and makes a page of it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Onlooker, Watch } from '../../loadtest/commands/drill.ts';
import type { LiveState, Play } from '../contract.ts';
import { openBoard } from './board.ts';
import { stageChoices } from './choices.ts';
import { makePage, savedPage } from './page-files.ts';
import { createRecorder } from './recorder.ts';

/** How long what was seen last may take to be told, in milliseconds. */
const LAST_NEWS_MS = 500;
/** How long a step waits until what led to it is in the picture, in milliseconds. */
const STEP_NEWS_MS = 200;

export const openOnlooker: Watch = async (drill, stage, target): Promise<Onlooker> => {
  // Before anything is played: a page that can't be made is told at once.
  const page = await makePage();
  let play: Play = { is: 'playing', trouble: null };
  const board = openBoard({ target, stage, drill: drill.name, onChange: () => recorder.look() });
  const read = (): LiveState => ({ play, controls: null, views: [board.view()] });
  const recorder = createRecorder({ choices: stageChoices(), read });
  recorder.begin();
  recorder.look();

  return {
    target: board.target,
    observe: board.observe,
    async tell(text, atMs, isStep) {
      board.tell({ atMs, text, isStep });
      if (isStep) await sleep(STEP_NEWS_MS);
    },
    async pageOf(result) {
      play = { is: 'ready', trouble: null };
      board.ended(result);
      await sleep(LAST_NEWS_MS);
      const run = recorder.run();
      if (run === undefined) throw new Error('Nothing was seen.');
      return savedPage(page, run);
    },
    close: board.close,
  };
};
