// What npm run drill does: breaks one stage after the other on purpose, and prints each step with its time.

import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import pc from 'picocolors';
import type { Drill, DrillOutcome, Narrate } from '../harness/drill.ts';
import type { Observe } from '../harness/observed.ts';
import type { Target } from '../harness/target.ts';
import { createTargets } from '../harness/targets.ts';
import { readStory, stageTitle } from '../report/story.ts';
import { expectationOf } from '../report/terminal.ts';
import { columnOf, rowOf, taughtVerdict } from '../staircase/lookup.ts';
import type { DrillCommand } from './drill-options.ts';
import { AS_TAUGHT, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { openKeyboard } from './keyboard.ts';

const SHOWN_WITNESSES = 3;

/** Somebody who watches one drill from its beginning on, to show it again. */
export interface Onlooker {
  /** The target that the drill is to break: what is done to it here is seen. */
  target: Target;
  observe: Observe;
  /** Is told what the drill narrates. Resolves when the drill may go on: what led to a step has been seen then. */
  tell(sentence: string, atMs: number, isStep: boolean): Promise<void>;
  /** The drill is over. Resolves with what was seen, as a page of one file. */
  pageOf(outcome: DrillOutcome): Promise<string>;
  /** Watches no more. */
  close(): void;
}

/** Watches the drill that is about to be run under this stage. */
export type Watch = (drill: Drill, stage: string, target: Target) => Promise<Onlooker>;

/** Runs the drill under each row. Resolves with the exit code, when all is closed. */
export async function runDrillCommand(
  { drill, rows, leaseMs, isStepwise, fileFor }: DrillCommand,
  watch: Watch,
): Promise<number> {
  const stopping = new AbortController();
  stopOnSignal(stopping, new Error('stopped before the end'));
  const backends = [...new Set(rows.flatMap((row) => rowOf(row)?.backends ?? []))];
  const targets = createTargets({ backends, onDeath: (sentence) => stopping.abort(new Error(sentence)) });
  const nobodyIsLeft = () => stopping.abort(new Error('nobody is left to press Enter'));
  const keyboard = isStepwise ? openKeyboard(process.stdin, nobodyIsLeft) : undefined;
  return runToEnd('The drill could not be run', runAll, targets.close);

  /** Resolves with the exit code: whether every row did as the staircase says. */
  async function runAll(): Promise<number> {
    if (fileFor) for (const row of rows) mustBeWritable(fileFor(row));
    await targets.open(drill.kind, 0, rows[0]);
    console.log(`${pc.bold(drill.name)}: ${columnOf(drill.name)?.asks}`);
    let isAsTaught = true;
    for (const stage of rows) {
      stopping.signal.throwIfAborted();
      const target = await targets.open(drill.kind, 0, stage);
      console.log(`\n${pc.bold(stageTitle(stage))}  ${pc.dim(readStory(stage)?.change ?? '')}`);
      if (!(await runOne(stage, target))) isAsTaught = false;
    }
    return isAsTaught ? AS_TAUGHT : NOT_AS_TAUGHT;
  }

  /** Runs it under one row, and keeps the run if it is asked to. Resolves with false when it is not as expected, or unknown. */
  async function runOne(stage: string, target: Target): Promise<boolean> {
    const onlooker = fileFor && (await watch(drill, stage, target));
    try {
      const outcome = await drill.run({
        target: onlooker?.target ?? target,
        stage,
        settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs },
        signal: stopping.signal,
        onProgress() {},
        async narrate(...told) {
          const isSeen = onlooker?.tell(...told);
          await narrate(...told);
          await isSeen;
        },
        observe: onlooker?.observe,
      });
      const isAsTaught = tellVerdict(drill.name, stage, outcome);
      // There is nothing to be seen of a drill that was not played.
      if (onlooker && outcome.verdict !== 'not-applicable') keep(fileFor(stage), await onlooker.pageOf(outcome));
      return isAsTaught;
    } finally {
      onlooker?.close();
    }
  }

  /** Prints what happens, and waits for Enter between two steps if it was asked to. */
  async function narrate(...[sentence, atMs, isStep]: Parameters<Narrate>) {
    console.log(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} s`)}  ${sentence}`);
    const showPrompt = () => void process.stdout.write(pc.dim('            Enter goes on. '));
    if (isStep) await keyboard?.waitForEnter(showPrompt, stopping.signal);
  }
}

/** Throws before anything is started where a file can't be written. */
function mustBeWritable(file: string) {
  unlessRefused(file, () => {
    if (!existsSync(dirname(file))) mkdirSync(dirname(file));
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

/** Prints the verdict. Returns false when it is not what the staircase says, or unknown. */
function tellVerdict(
  name: string,
  stage: string,
  { verdict, reasons, witnesses, witnessCount }: DrillOutcome,
): boolean {
  const taught = taughtVerdict(stage, name);
  const isSettled = verdict === 'pass' || verdict === 'fail';
  const signs = {
    pass: pc.green('✔ holds'),
    fail: pc.red('✘ fails'),
    unknown: pc.yellow('? unknown'),
    'not-applicable': pc.dim('– not applicable'),
  };
  console.log(`  ${pc.bold(signs[verdict])}  ${reasons.join(' ')}`);
  const expectation = expectationOf(stage, { verdict, taught });
  if (expectation) console.log(`    ${expectation}`);
  for (const witness of witnesses.slice(0, SHOWN_WITNESSES)) console.log(`    ${pc.dim(`${witness}.`)}`);
  const more = witnessCount - SHOWN_WITNESSES;
  if (more > 0) console.log(`    ${pc.dim(`and ${more} more`)}`);
  return verdict === 'not-applicable' || (isSettled && (taught === null || verdict === taught));
}
