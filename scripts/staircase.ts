// npm run staircase: plays every drill under every stage, in simulated time or on real servers, and writes the report.

import { runTrack } from './command-line/run-track.ts';

await runTrack('staircase');
