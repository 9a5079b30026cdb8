// Watches a drill that npm run drill plays, as the live page would, and makes a page of it.

import type { DrillResult } from '../../loadtest/evidence/results.ts';
import type { Drill, Narrate, Observe } from '../../loadtest/harness/drill.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import type { Reason } from '../../loadtest/narration/reasons.ts';
import { stageTitle } from '../../loadtest/report/story.ts';
import { packPage } from '../page/pack.ts';
import { lockPlaceOf } from './player.ts';
import { startRecording } from './recording.ts';

/** Somebody who watches one drill from its beginning on, to show it again. */
export interface Onlooker {
  observe: Observe;
  /** Is told what the drill narrates. */
  tell: Narrate;
  /** The drill is over. Resolves with what was seen, as a page of one file. */
  pageOf(result: DrillResult, says: Reason[]): Promise<string>;
  /** Watches no more. */
  close(): void;
}

/** Watches the drill that is about to be run under this stage. */
export async function openOnlooker(drill: Drill, stage: string, target: Target): Promise<Onlooker> {
  const recording = startRecording({ stage, drill, onChange() {} });
  recording.audience.watch(target);
  return {
    observe: recording.audience.observe,
    tell: recording.audience.narrate,
    async pageOf(result, says) {
      const { verdict, expected } = result;
      const run = { number: 1, stage, drill: drill.name, title: stageTitle(stage), place: lockPlaceOf(stage) };
      return packPage({ run: { ...run, events: recording.events(result), verdict: { verdict, expected, says } } });
    },
    close: () => void recording.close(),
  };
}
