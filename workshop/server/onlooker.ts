// Records a drill of npm run drill, like the live page, and makes a page of it.

import type { DrillResult } from '../../loadtest/evidence/results.ts';
import type { Drill } from '../../loadtest/harness/drill.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import type { Reason } from '../../loadtest/narration/reasons.ts';
import { titleOf } from '../../loadtest/report/story.ts';
import { packPage } from '../page/pack.ts';
import { placeOf } from './player.ts';
import { startRecording } from './recording.ts';

export type Onlooker = Awaited<ReturnType<typeof openOnlooker>>;

/** Records the drill that is about to run under this stage, to replay it later. */
export async function openOnlooker(drill: Drill, stage: string, target: Target, place = placeOf(stage)) {
  const recording = startRecording({ stage, drill, onChange() {} });
  recording.audience.watch(target);
  return {
    observe: recording.audience.observe,
    /** Gets what the drill narrates. */
    tell: recording.audience.narrate,
    /** Call it when the drill is over. Resolves with the recording, as a single-file page. */
    async pageOf(result: DrillResult): Promise<string> {
      const { verdict, expected, facts } = result;
      const says = (facts?.says ?? []) as Reason[];
      const isLoad = drill.kind === 'load';
      const run = { number: 1, stage, drill: drill.name, title: titleOf(stage), place, isLoad };
      return packPage({ run: { ...run, events: recording.events(result), verdict: { verdict, expected, says } } });
    },
    /** Stops recording. */
    close: () => void recording.close(),
  };
}
