// npm run prove: looks at every order of events under a lock, and prints the matrix or the shortest counterexample.

import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { beyond, locks } from '../../locks/index.ts';
import type { Cell, Task } from '../../prove/cell.ts';
import { scopes } from '../../prove/scopes.ts';
import { numbered } from '../../prove/words.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { taughtVerdict } from '../staircase/lookup.ts';
import { AS_TAUGHT, COULD_NOT_RUN, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { namesAmong, stageList } from './options.ts';

/** What keeps its lock in one Redis: the search has no other server. */
const provable = [...Object.keys(locks), ...Object.keys(beyond).filter((name) => isInRedis(name))];
const scopeNames = scopes.map(({ name }) => name);

const command = new Command('npm run prove --')
  .description('Looks at every order in which what a few processes do can happen.')
  .option('--stage <stages>', 'stages by number or name, such as 4,5 or fenced', stageList, provable)
  .option(
    '--scope <scopes>',
    `what may go wrong: ${scopeNames.join(', ')}`,
    (value: string) => namesAmong(scopeNames, value),
    scopeNames,
  )
  .option('--processes <n>', 'how many processes', count(2, 4), 2)
  .option('--sales <n>', 'how many sales each makes, one after the other', count(1, 3), 1)
  .option('--seconds <n>', 'how long a cell may take', count(1, 3_600), 60)
  .option('--json', 'print the cells as JSON and nothing else', false)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();
const {
  stage: stages,
  scope,
  processes,
  sales,
  seconds,
  json,
} = command.opts<{
  stage: string[];
  scope: string[];
  processes: number;
  sales: number;
  seconds: number;
  json: boolean;
}>();

const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped before the end'));
process.exitCode = await runToEnd('The search could not be run', proveAll);
process.exit();

async function proveAll(): Promise<number> {
  const tasks: Task[] = stages.flatMap((stage) =>
    scope.map((scope) => ({ stage, file: fileOf(stage), scope, processes, sales, budget: {}, seconds })),
  );
  const cells = await inWorkers(tasks);
  if (json) console.log(JSON.stringify({ format: 1, cells }, undefined, 2));
  else print(cells);
  return cells.every(isAsTaught) ? AS_TAUGHT : NOT_AS_TAUGHT;
}

/** Proves the cells in as many processes as there are cores. Resolves with them in their order. */
async function inWorkers(tasks: Task[]): Promise<Cell[]> {
  const [file = '', ...args] = (await bundledArgs('prove/worker.ts')).toReversed();
  const cells: Cell[] = [];
  const queue = [...tasks.entries()];
  async function work() {
    const worker = fork(file, { execArgv: [...args, '--no-warnings'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [index, task] = next;
        const answer = await new Promise<{ cell?: Cell; problem?: string }>((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('exit', () => reject(new Error('a process of the search has ended')));
          stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason));
          worker.send(task);
        });
        worker.removeAllListeners();
        if (answer.cell === undefined) throw new Error(answer.problem);
        cells[index] = answer.cell;
        if (!json && process.stderr.isTTY)
          process.stderr.write(`\r${cells.filter(Boolean).length} of ${tasks.length} `);
      }
    } finally {
      worker.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), tasks.length) }, work));
  return cells;
}

function print(cells: Cell[]) {
  const signs = { holds: pc.green('✔'), fails: pc.red('✘'), unknown: pc.yellow('?') };
  const width = Math.max(...stages.map((name) => name.length)) + 2;
  for (const [at, name] of scope.entries()) console.log(`${' '.repeat(width)}${'│  '.repeat(at)}${name}`);
  for (const stage of stages) {
    const row = cells.filter((cell) => cell.stage === stage);
    console.log(`${stage.padEnd(width)}${row.map(({ verdict }) => signs[verdict]).join('  ')}`);
  }
  const states = cells.reduce((sum, cell) => sum + cell.states, 0);
  const of = sales > 1 ? `${processes} processes × ${sales} sales` : `${processes} processes`;
  console.log(
    `\n${of}: ${states.toLocaleString('en')} states. ✔ in no order, ✘ in some order, ? not all were looked at.`,
  );
  const [only] = cells;
  if (cells.length > 1 || only === undefined) return;
  console.log(`\n${only.verdict}: ${only.reason} ${only.schedules === '0' ? '' : `${only.schedules} orders.`}`);
  for (const line of numbered(only.counterexample ?? [])) console.log(`  ${line}`);
}

const isAsTaught = ({ stage, scope, verdict }: Cell) => {
  const taught = taughtVerdict(stage, scope);
  return verdict !== 'unknown' && (taught === null || (taught === 'pass') === (verdict === 'holds'));
};

function isInRedis(name: string) {
  const strategy = beyond[name];
  return strategy?.backend === 'redis' && 'createLock' in strategy;
}

function fileOf(stage: string) {
  return resolve(projectDir, 'locks', Object.hasOwn(locks, stage) ? '.' : 'beyond', `${stage}.ts`);
}

function count(least: number, most: number) {
  return (value: string) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
