// The virtual lab in a worker: plays one cell after the other, as the page asks for them.

import './shims/globals.ts';
import { type CellRecord, runCell } from '../../loadtest/harness/run-cell.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { readPage } from '../../loadtest/scenarios/page.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { addExternalRow, columnOf } from '../../loadtest/staircase/lookup.ts';
import { playDrill, REAL_ONLY } from '../../loadtest/virtual/play.ts';
import { strategies } from '../../locks/index.ts';
import type { Lab } from '../../virtual/lab.ts';
import { isVirtual, type LockSource } from '../../virtual/lock-service.ts';
import type { Heard } from '../../virtual/server.ts';
import { type PlayRecord, recordsOf } from './records.ts';
import { existsSync, readFileSync, writeFileSync } from './shims/fs.ts';

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
  /** It will be shown. */
  isShown?: boolean;
  /** The text of a lock of one's own, whatever the stage is called. */
  own?: string;
}

/** What came of it, or why it could not be played. */
export type Result = { id: number } & (Played | { problem: string });
/** Said while a cell is played. `isEndless`: it goes on for ever, and is to be ended. */
export interface Sign {
  isEndless: boolean;
}
export interface Played {
  record: CellRecord;
  log: string[];
  /** What a picture is drawn of. */
  records: PlayRecord[];
}

const played = [
  ...drills.filter(({ name }) => REAL_ONLY[name] === undefined),
  asDrill(readPage(textOf('live/page/patient-buyer'))),
];

function textOf(page: string): string {
  const file = `/lockstep/${page}.txt`;
  return existsSync(file) ? String(readFileSync(file)) : '';
}

/** The lock of one's own that was played last. */
let mine: { text: string; lock: LockSource } | undefined;
/** A load that is small, and large enough for each lock to show its verdict. */
const ownSettings = { requests: 16, connections: 4, units: 8, leaseMs: 400 };
let versions = 0;

function ownLock(text: string, name: string): LockSource {
  if (mine?.text === text) return mine.lock;
  versions += 1;
  const file = `mine/${versions}/lock.ts`;
  writeFileSync(file, text);
  addExternalRow(name, 'redis');
  const facts = { backend: 'redis', isExternal: true } as const;
  const lock: LockSource = { name, file: `/lockstep/${file}`, facts, hasOurClient: true };
  mine = { text, lock };
  return lock;
}

/** What has happened in the cell that is played. */
let log: string[] = [];
/** What is longer goes on for ever, or asks without a pause: a scenario under a lock that pauses has a quarter of it at most. */
const MOST_LINES = 5_000;
const SIGN_MS = 250;
setInterval(() => postMessage({ isEndless: log.length > MOST_LINES } satisfies Sign), SIGN_MS);

async function play({ stage, drill: name, isShown, own }: Task): Promise<Played> {
  const drill = played.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  log = [];
  let heard: Heard[] = [];
  const world = {
    isVirtual: true,
    async play() {
      const disturb = ({ redis, log: begun }: Lab) => {
        heard = redis.heard;
        log = begun;
      };
      const lock = own === undefined ? {} : { lock: ownLock(own, stage), givesUp: true, settings: ownSettings };
      const played = await playDrill(drill, stage, { disturb, ...lock });
      return { outcome: played.outcome };
    },
  };
  const record = await runCell({ stage, drill }, world);
  if (!isShown) return { record, log, records: [] };
  const page = textOf(`loadtest/scenarios/${name}`) || textOf(`live/page/${name}`);
  const lines = page.split('\n').map((line) => line.replace(/^> /, ''));
  const source = { log, events: record.events, heard, lock: stage, lines: lines.filter(Boolean) };
  return { record, log, records: await recordsOf(source) };
}

addEventListener('message', async ({ data }: MessageEvent<Task>) => {
  const result: Result = await play(data).then(
    (played) => ({ id: data.id, ...played }),
    (error: Error) => ({ id: data.id, problem: error.message }),
  );
  postMessage(result);
});

postMessage({
  drills: played.flatMap(({ name }) => {
    const column = columnOf(name);
    return column ? [{ name, asks: column.asks }] : [];
  }),
  stages: Object.keys(strategies).filter(isVirtual),
} satisfies Ready);
