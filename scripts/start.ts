// npm start: walks through the stages on real servers, prints what happens, and writes the report.

import { runTrack } from './command-line/run-track.ts';

await runTrack('start');
