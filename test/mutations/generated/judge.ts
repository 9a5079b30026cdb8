// Judges a mutant twice: what the scene shows of it, and what the checks and the drills say of it. Neither knows of the other.

import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import type { Verdict } from '../../../loadtest/evidence/results.ts';
import type { DrillOutcome } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { checkNames } from '../../../loadtest/staircase/conformance.ts';
import { playDrill, REAL_ONLY } from '../../../loadtest/worlds/simulated/play.ts';
import { exportsOf, type LockSource, lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';
import { type Difference, findDifference, playMore, playScene, type Scene } from './scene.ts';

/** The contract and its errors. No mutant is made of it. */
const CONTRACT = 'locks/lock.ts';
/** How often each family of the scene is played: the lock as it is oftener, to know what is usual. */
const USUAL_SEEDS = 10;
const SEEDS = 4;
/** Where the scene and the checks disagree the scene is played so often, and as often of the lock as it is, to see what may happen to that. */
const MORE_SEEDS = 32;
const MORE_USUAL_SEEDS = 80;
/** They take longest, so they come last. */
const LATE = ['contract-abort-many', 'contract-herd', 'contract-heap', 'contract-sequences', 'contract-long-sequences'];

/** How the lock as it is behaves. */
export interface Usual {
  verdicts: Record<string, Verdict>;
  scene: Scene;
}

export interface Judgement {
  /** Why it could not even be loaded. */
  problem?: string;
  /** What the scene shows that it does not show of the lock as it is. */
  difference?: Difference | undefined;
  /** The first check or drill that fails, and does not under the lock as it is. */
  caughtBy?: { name: string; reason: string } | undefined;
  /** Checks and drills that came to nothing, and do not under the lock as it is. */
  unknown?: string[];
}

type Task = { lock: string; source: LockSource };

const names = [
  ...checkNames.filter((name) => !LATE.includes(name)),
  ...drills.map(({ name }) => name).filter((name) => REAL_ONLY[name] === undefined),
  ...LATE,
];

async function outcomeOf(name: string, { lock, source }: Task): Promise<Pick<DrillOutcome, 'verdict' | 'reasons'>> {
  if (checkNames.includes(name)) return runCheck(name, source);
  const drill = drills.find((each) => each.name === name) as (typeof drills)[number];
  try {
    return (await playDrill(drill, lock, { lock: source, givesUp: true })).outcome;
  } catch (error) {
    return { verdict: 'unknown', reasons: [String(error)] };
  }
}

/** How this lock behaves as it is. */
export async function usualOf(lock: string): Promise<Usual> {
  const task = { lock, source: lockNamed(lock) };
  const verdicts: Record<string, Verdict> = {};
  for (const name of names) verdicts[name] = (await outcomeOf(name, task)).verdict;
  return { verdicts, scene: await playScene(task.source, USUAL_SEEDS) };
}

/** Judges a lock with another text in one of its files. `onDifference` is told first what the scene shows. */
export async function judge(
  { lock, file, text, usual }: { lock: string; file: string; text: string; usual: Usual },
  dir: string,
  onDifference: (difference: Difference | undefined) => void,
): Promise<Judgement> {
  const source = writeMutant(lock, { file, text }, dir);
  try {
    await exportsOf(source);
  } catch (error) {
    return { problem: (error as Error).message };
  }
  const difference = await findDifference(source, SEEDS, usual.scene);
  onDifference(difference);
  const found = await askAll({ lock, source }, usual);
  if ((difference === undefined) === (found.caughtBy === undefined)) return { difference, ...found };
  return { difference: await lookLonger({ lock, source }, usual.scene, difference), ...found };
}

/** The first check or drill that catches it. */
async function askAll(task: Task, { verdicts }: Usual): Promise<Pick<Judgement, 'caughtBy' | 'unknown'>> {
  const unknown: string[] = [];
  for (const name of names) {
    const before = verdicts[name];
    if (before === 'fail') continue;
    const { verdict, reasons } = await outcomeOf(name, task);
    if (verdict === 'fail') return { caughtBy: { name, reason: reasons[0] ?? '' }, unknown };
    if (verdict === 'unknown' && before !== 'unknown') unknown.push(name);
  }
  return { unknown };
}

/** A difference that the lock as it is does not show in many runs either. */
async function lookLonger({ lock, source }: Task, usual: Scene, found: Difference | undefined) {
  let difference = found ?? (await findDifference(source, MORE_SEEDS, usual, SEEDS + 1));
  for (let before = ''; difference !== undefined && before !== JSON.stringify(difference); ) {
    before = JSON.stringify(difference);
    await playMore(lockNamed(lock), usual, difference, MORE_USUAL_SEEDS);
    difference = await findDifference(source, found ? SEEDS : MORE_SEEDS, usual, found ? 1 : SEEDS + 1);
  }
  return difference;
}

/** Writes the locks and the scripts into a folder of their own, with another text in one file. */
export function writeMutant(lock: string, { file, text }: { file: string; text: string }, dir: string): LockSource {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const folder of ['locks', 'lua']) cpSync(join(projectDir, folder), join(dir, folder), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(dir, 'node_modules'));
  // The service and the lock must share the error classes: the service tells errors apart with `instanceof`.
  rmSync(join(dir, CONTRACT));
  symlinkSync(join(projectDir, CONTRACT), join(dir, CONTRACT));
  writeFileSync(join(dir, file), text);
  const source = lockNamed(lock);
  return { ...source, file: join(dir, relative(projectDir, source.file)) };
}
