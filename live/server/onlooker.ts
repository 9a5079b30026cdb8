// Watches a drill that npm run drill plays, as the live page would, and makes a page of it.

import type { Onlooker, Watch } from '../../loadtest/commands/drill.ts';
import { stageTitle } from '../../loadtest/report/story.ts';
import { packPage } from '../page/pack.ts';
import { lockPlaceOf } from './player.ts';
import { startRecording } from './recording.ts';

export const openOnlooker: Watch = async (drill, stage, target): Promise<Onlooker> => {
  const recording = startRecording({ stage, drill, onChange() {} });
  recording.audience.watch(target);
  return {
    observe: recording.audience.observe,
    tell: recording.audience.narrate,
    async pageOf(result, says) {
      const { verdict, taught } = result;
      const run = { number: 1, stage, drill: drill.name, title: stageTitle(stage), place: lockPlaceOf(stage) };
      return packPage({ run: { ...run, events: recording.events(result), verdict: { verdict, taught, says } } });
    },
    close: () => void recording.close(),
  };
};
