// npm run staircase: plays every drill under every stage, in the virtual world or on real servers, and writes the report.

import { runTrack } from './command-line/run-track.ts';

await runTrack(
  'npm run staircase',
  'Plays every drill under every stage, and writes a report: the whole staircase. In the virtual world, in seconds, unless --real is given.',
);
