// npm start: replays the stages on real servers, tells the story as it goes, and writes the report.

import { runTrack } from './command-line/run-track.ts';

await runTrack('start');
