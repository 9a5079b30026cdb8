// What npm run drill does: breaks one stage after the other on purpose, prints each step with its time, and writes the report.

import { closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pc from 'picocolors';
import type { DrillResult } from '../evidence/results.ts';
import type { Drill, Narrate, Observe } from '../harness/drill.ts';
import type { Target } from '../harness/target.ts';
import type { Reason } from '../narration/reasons.ts';
import { narrated } from '../narration/steps.ts';
import { stageTold, stepTold, verdictTold } from '../report/terminal.ts';
import { columnOf } from '../staircase/lookup.ts';
import { COULD_NOT_RUN } from './ending.ts';
import { type Narrator, reportLine } from './narrator.ts';
import type { DrillCommand } from './options.ts';
import { Interrupted } from './run.ts';
import { runCommand } from './run-command.ts';

/** Somebody who watches one drill from its beginning on, to show it again. */
export interface Onlooker {
  observe: Observe;
  /** Is told what the drill narrates. */
  tell: Narrate;
  /** The drill is over. Resolves with what was seen, as a page of one file. */
  pageOf(result: DrillResult, says: Reason[]): Promise<string>;
  /** Watches no more. */
  close(): void;
}

/** Watches the drill that is about to be run under this stage. */
export type Watch = (drill: Drill, stage: string, target: Target) => Promise<Onlooker>;

/** Runs the drill under each row, and sets the exit code. */
export async function runDrillCommand(
  { drill, rows, isStepwise, fileFor, ...settings }: DrillCommand,
  watch: Watch,
): Promise<void> {
  try {
    if (fileFor) for (const row of rows) mustBeWritable(fileFor(row));
  } catch (error) {
    process.stderr.write(`The run could not be made: ${(error as Error).message}\n`);
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
      console.log(`${pc.bold(drill.name)}: ${columnOf(drill.name)?.asks}`);
    },
    cell({ stage }) {
      console.log(`\n${stageTold(stage)}`);
    },
    follow: ({ stage }) => ({
      async watch(target) {
        onlooker = fileFor && (await watch(drill, stage, target));
        return target;
      },
      observe: (seen) => onlooker?.observe(seen),
      async narrate(sentence, atMs, isStep, line) {
        await onlooker?.tell(sentence, atMs, isStep, line);
        console.log(stepTold(narrated(sentence), atMs));
        if (!isStep || !keyboard) return;
        const showPrompt = () => void process.stdout.write(pc.dim('            Enter goes on. '));
        await askForEnter(keyboard, showPrompt, stopping.signal);
      },
    }),
    async result(stage, result, says) {
      for (const line of verdictTold(stage, result)) console.log(line);
      // There is nothing to be seen of a drill that was not played.
      if (fileFor && onlooker && result.verdict !== 'not-applicable') {
        keep(fileFor(stage), await onlooker.pageOf(result, says));
      }
      onlooker?.close();
    },
    end: (_results, dir) => console.log(reportLine(dir)),
  };
  const cells = rows.map((stage) => ({ stage, drill }));
  await runCommand({ ...settings, command: 'npm run drill', cells, workers: 1, narrator, stopping });
}

/** Shows the prompt, and resolves with what is typed from then on, up to Enter. Rejects when the signal aborts. */
export async function askForEnter(keyboard: Interface, showPrompt: () => void, signal: AbortSignal): Promise<string> {
  // What was typed before may lie unread. One whole turn of the event loop reads it, and nobody listens yet.
  await nextTurn();
  await nextTurn();
  showPrompt();
  return keyboard.question('', { signal });
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
  console.log(`  The run is kept in ${relative(process.cwd(), file)}: a browser opens it without a server.`);
}

function unlessRefused(file: string, act: () => void) {
  try {
    act();
  } catch (error) {
    throw new Error(`${file} can't be written: ${(error as Error).message}`, { cause: error });
  }
}
