// npm run drill: breaks one stage on purpose, prints each step with its time, writes a report, and keeps what was seen as a page with --save.

import { runDrillCommand } from '../loadtest/commands/drill.ts';
import { readDrillOptions } from '../loadtest/commands/options.ts';
import { loadEnvFile } from '../services/inventory/env-file.ts';

loadEnvFile();
await runDrillCommand(readDrillOptions(process.argv), async (...played) => {
  // Most runs are kept nowhere, and begin sooner without it.
  const { openOnlooker } = await import('./server/onlooker.ts');
  return openOnlooker(...played);
});
