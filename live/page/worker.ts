// The virtual lab in a worker: plays one cell after the other, as the page asks for them.

import './shims/globals.ts';
import { type CellRecord, runCell } from '../../loadtest/harness/run-cell.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { columnOf } from '../../loadtest/staircase/lookup.ts';
import { playDrill, REAL_ONLY } from '../../loadtest/virtual/play.ts';
import { strategies } from '../../locks/index.ts';
import { isVirtual } from '../../virtual/lock-service.ts';

/** What the lab can play, in the order of the staircase: its first message. */
export interface Ready {
  drills: { name: string; asks: string }[];
  stages: string[];
}

/** A cell to play. */
export interface Task {
  id: number;
  stage: string;
  drill: string;
}

/** What came of it, or why it could not be played. */
export type Result = { id: number } & ({ record: CellRecord; log: string[] } | { problem: string });

const played = drills.filter(({ name }) => REAL_ONLY[name] === undefined);

async function play({ stage, drill: name }: Task) {
  const drill = played.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  let log: string[] = [];
  const world = {
    isVirtual: true,
    async play() {
      const played = await playDrill(drill, stage);
      log = played.log;
      return { outcome: played.outcome };
    },
  };
  return { record: await runCell({ stage, drill }, world), log };
}

addEventListener('message', async ({ data }: MessageEvent<Task>) => {
  const result: Result = await play(data).then(
    (played) => ({ id: data.id, ...played }),
    (error: Error) => ({ id: data.id, problem: error.message }),
  );
  postMessage(result);
});

postMessage({
  drills: played.map(({ name }) => ({ name, asks: columnOf(name)?.asks ?? '' })),
  stages: Object.keys(strategies).filter(isVirtual),
} satisfies Ready);
