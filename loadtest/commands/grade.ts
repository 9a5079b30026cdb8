// npm run grade: runs every drill under external locks, and writes the report with their rows.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import dotenv from 'dotenv';
import { nameOfExternalLock } from '../../services/inventory/external-lock.ts';
import { drills as allDrills } from '../drills/index.ts';
import { problemOfName, readExternalLock, readPeers } from '../grade/external-locks.ts';
import { allCells, STEP_WORKERS } from '../staircase/plan.ts';
import { COULD_NOT_RUN } from './ending.ts';
import { createStaircaseNarrator } from './narrator.ts';
import { readGradeOptions } from './options.ts';
import { runCommand } from './run-command.ts';

/** npm starts its scripts in the folder of the project, wherever it was called. */
const callerDir = process.env['INIT_CWD'] || process.cwd();

dotenv.config({ quiet: true });
const { files, peers, newFile, baseline, drills = allDrills, ...options } = readGradeOptions(process.argv);
if (newFile !== undefined) writeTemplate(resolve(callerDir, newFile));
else await grade();

async function grade() {
  const given = files.map((file) => resolve(callerDir, file));
  const grades = [...(await Promise.all(given.map(readExternalLock))), ...(peers ? await readPeers() : [])];
  for (const { file, problem } of grades) {
    if (problem !== undefined) process.stderr.write(`${relative(callerDir, file)} can't be graded: ${problem}.\n`);
  }
  const sound = grades.filter(({ problem }) => problem === undefined).map(({ stage }) => stage);
  if (sound.length === 0) {
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  const cells = allCells([...baseline, ...sound], drills);
  // Stacks that share one Redis would share the stock and the lock.
  const workers = process.env['REDIS_URL'] ? 1 : STEP_WORKERS;
  const narrator = createStaircaseNarrator(process.stdout, cells, workers);
  await runCommand({ ...options, command: 'npm run grade', cells, workers, narrator, grades });
}

/** Writes a lock that works, to be changed. Never over a file that is there. */
function writeTemplate(file: string) {
  const template = readFileSync(new URL('../grade/my-lock-template.ts', import.meta.url), 'utf8');
  const lockFile = fileURLToPath(new URL('../../locks/lock.ts', import.meta.url));
  const path = relative(dirname(file), lockFile);
  const text = template.replace('../locks/lock.ts', path.startsWith('.') ? path : `./${path}`);
  const problem = problemOfName(nameOfExternalLock(file), file);
  try {
    if (problem !== undefined) throw new Error(problem);
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it is there already, and is left as it is' : message;
    process.stderr.write(`${file} can't be written: ${why}.\n`);
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  process.stdout.write(`${file} is a lock that works. Change it, and grade it:\n\n`);
  const shown = relative(callerDir, file);
  process.stdout.write(`npm run grade -- ${shown.startsWith('.') ? shown : `./${shown}`}\n`);
}
