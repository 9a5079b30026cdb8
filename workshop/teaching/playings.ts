// The playings that a page shows: a marker names a scenario and a lock, and below it stands what the playing in simulated time gives.

import { scenario } from '../../loadtest/scenarios/index.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { REAL_ONLY } from '../../loadtest/worlds/simulated/play.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { sequenceOf } from './sequence.ts';
import { transcriptOf } from './transcript.ts';

/** `last`: the last sentence that is shown, if the rest says no more. */
type Show = (page: Scenario, stage: string, last?: string) => Promise<string>;
const shows: Record<string, Show> = { sequence: sequenceOf, transcript: transcriptOf };
/** What to show, of which scenario, under which lock, and up to which sentence. */
const PART = /<!-- (sequence|transcript): (\S+) (\S+?)(?:, to: (.+?))? -->.*?<!-- \/\1 -->/gs;

/** The page with what its markers name. What stands between a marker and its end is made anew. Rejects for a name that is none. */
export async function withPlayings(chapter: string): Promise<string> {
  for (const kind of Object.keys(shows)) {
    const [opened, closed] = [`<!-- ${kind}: `, `<!-- /${kind} -->`].map((mark) => chapter.split(mark).length);
    if (opened !== closed) throw new Error(`Each <!-- ${kind}: … --> needs its <!-- /${kind} -->.`);
  }
  let now = chapter;
  for (const [part, kind = '', name = '', stage = '', last] of chapter.matchAll(PART)) {
    const opening = part.slice(0, part.indexOf('-->') + 3);
    if (!isVirtual(stage)) throw new Error(`There is no lock ${stage} in virtual time.`);
    if (REAL_ONLY[name]) throw new Error(`${name} can't be played in virtual time: ${REAL_ONLY[name]}`);
    const shown = await shows[kind]?.(scenario(name), stage, last);
    now = now.replace(part, () => `${opening}\n\n${shown}\n\n<!-- /${kind} -->`);
  }
  return now;
}
