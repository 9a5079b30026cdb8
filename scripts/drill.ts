// npm run drill: breaks one stage after the other on purpose, prints each step with its time, and writes the report. With --save it keeps the run as
// a page.

import { closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import pc from 'picocolors';
import { speak } from '../loadtest/narration/language.ts';
import { either, stepSaid } from '../loadtest/narration/spoken.ts';
import { questionOf } from '../loadtest/report/cells.ts';
import { stageTold, stepTold, verdictTold } from '../loadtest/report/terminal.ts';
import { Interrupted } from '../loadtest/run/cells.ts';
import { type Narrator, reportLine } from '../loadtest/run/narrator.ts';

import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import type { Onlooker } from '../workshop/server/onlooker.ts';
import { COULD_NOT_RUN } from './command-line/ending.ts';
import { askForEnter } from './command-line/keyboard.ts';
import { runCommand } from './command-line/run-command.ts';
import { type DrillCommand, readDrillOptions } from './command-line/run-options.ts';

loadEnvFile();
await runDrill(readDrillOptions(process.argv));

/** Runs the drill under each row, and sets the exit code. */
async function runDrill({ drill, rows, isStepwise, fileFor, ...settings }: DrillCommand): Promise<void> {
  speak(settings.language);
  try {
    if (fileFor) for (const row of rows) mustBeWritable(fileFor(row));
  } catch (error) {
    process.stderr.write(`The run failed: ${(error as Error).message}\n`);
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  const stopping = new AbortController();
  const nobodyIsLeft = () => stopping.abort(new Interrupted('Nobody is left to press Enter.'));
  const keyboard = isStepwise ? createInterface({ input: process.stdin }) : undefined;
  keyboard?.on('close', nobodyIsLeft);
  let onlooker: Onlooker | undefined;

  const narrator: Narrator = {
    start() {
      console.log([pc.bold(drill.name), questionOf(drill.name)].filter(Boolean).join(either(': ', '：')));
    },
    cell({ stage }) {
      console.log(`\n${stageTold(stage)}`);
    },
    follow: ({ stage }) => ({
      async watch(target) {
        // Most runs are kept nowhere, and begin sooner without it.
        if (fileFor)
          onlooker = await (await import('../workshop/server/onlooker.ts')).openOnlooker(drill, stage, target);
        return target;
      },
      observe: (seen) => onlooker?.observe(seen),
      async narrate(sentence, atMs, isStep, line) {
        await onlooker?.tell(sentence, atMs, isStep, line);
        console.log(stepTold(stepSaid(sentence), atMs));
        if (!isStep || !keyboard) return;
        const showPrompt = () =>
          void process.stdout.write(
            pc.dim(either('            Press Enter to continue. ', '            按 Enter 继续。')),
          );
        await askForEnter(keyboard, showPrompt, stopping.signal);
      },
    }),
    async result(stage, result) {
      for (const line of verdictTold(stage, result)) console.log(line);
      // There is nothing to be seen of a drill that was not played.
      if (fileFor && onlooker && result.verdict !== 'not-applicable') {
        keep(fileFor(stage), await onlooker.pageOf(result));
      }
      onlooker?.close();
    },
    end: (_results, dir) => console.log(reportLine(dir)),
  };
  const cells = rows.map((stage) => ({ stage, drill }));
  const isWatched = fileFor !== undefined;
  await runCommand({ ...settings, command: 'drill', cells, workers: 1, narrator, isWatched, stopping });
}

/** Throws before anything is started where a file can't be written: nobody is to lose a drill by it. */
function mustBeWritable(file: string) {
  unlessRefused(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a'));
    if (statSync(file).size === 0) rmSync(file);
  });
}

function keep(file: string, page: string) {
  unlessRefused(file, () => writeFileSync(file, page));
  const path = relative(process.cwd(), file);
  console.log(
    either(
      `  The run is saved in ${path}: a browser opens it without a server.`,
      `  运行已保存到 ${path}：用浏览器打开即可，不需要服务器。`,
    ),
  );
}

function unlessRefused(file: string, act: () => void) {
  try {
    act();
  } catch (error) {
    throw new Error(`${file} can't be written: ${(error as Error).message}`, { cause: error });
  }
}
