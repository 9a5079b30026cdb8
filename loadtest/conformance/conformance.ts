// Runs the conformance checks: what a lock must do without load. Each check runs in its own simulation.

import { exportsOf, type LockSource } from '../../simulation/lock-service.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { readPromises } from '../evidence/promises.ts';
import { type DrillOutcome, lostTrack } from '../harness/drill.ts';
import { asClause } from '../narration/numbers.ts';
import { promisesOfAll, promisesOfOurs } from '../staircase/conformance.ts';
import { type Check, checks } from './checks.ts';
import { doesNotApply, NoLock, outcomeOf, saidOf } from './outcome.ts';
import {
  LEASE_MS,
  LONG_LEASE_MS,
  type LockUnderTest,
  type Staging,
  type Subject,
  type Survey,
  stageOf,
} from './staging.ts';

/** What is known about a lock before its first check. */
interface Known {
  lock: LockUnderTest;
  /** What came of the first check. */
  entered: DrillOutcome;
  /** Why the others can look at nothing: a sentence. */
  nothing?: DrillOutcome;
}

/** By the whole source of a lock: several locks may share one file. */
const known = new Map<string, Promise<Known>>();
/** How long the commands of one renewal take at most, in milliseconds. */
const MOMENT_MS = 50;
const noSurvey: Survey = {
  acquire: [],
  release: [],
  renewal: [],
  hasLost: false,
  callsOnLeaseLost: false,
  hasToken: false,
};
const [first, second] = checks as [Check, Check];

/**
 * Puts a lock through the check of this name. The one place that says `unknown`: when a step that the check needs was not seen, or the
 * simulation can't run the lock.
 */
export async function runCheck(name: string, source: LockSource): Promise<DrillOutcome> {
  const check = checks.find((each) => each.name === name);
  if (check === undefined) throw new Error(`There is no check ${name}.`);
  try {
    const subject = JSON.stringify(source);
    const knowing = known.get(subject) ?? know(source);
    known.set(subject, knowing);
    const { lock, entered, nothing } = await knowing;
    if (check === first) return entered;
    if (nothing) return nothing;
    const { isElsewhere, ...has } = lock.survey;
    if (isElsewhere && check !== second) return doesNotApply(`Skipped: ${isElsewhere}`);
    if (check.needs === 'renewal' && has.renewal.length === 0)
      return doesNotApply('It sends nothing while it is held: it does not renew.');
    if (check.needs === 'lost' && !has.hasLost && !has.callsOnLeaseLost) {
      const why = has.renewal.length > 0 ? 'takes no `onLeaseLost`' : 'does not renew';
      return doesNotApply(
        `It has no \`lost\` signal and ${why}, so a holder learns of its loss only when it releases.`,
      );
    }
    if (check.needs === 'replica' && !source.facts.replicas) return doesNotApply('It waits for no replica.');
    if (check.needs === 'token' && !has.hasToken) return doesNotApply('It has no fencing tokens.');
    return await check.run(lock);
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Loads the lock. Rejects with a sentence that says why the simulation can't run it. */
async function know(source: LockSource): Promise<Known> {
  const { promises: exported } = await exportsOf(source).catch((error: Error) => {
    throw new Error(`It can't be loaded in the simulation: ${asClause(error.message)}.`);
  });
  const promises = source.facts.isExternal
    ? readPromises(exported)
    : { ...promisesOfAll, ...promisesOfOurs[source.name] };
  const subject: Subject = { source, promises, scripts: [] };
  const lock: LockUnderTest = { promises, survey: noSurvey, stage: (act) => stageOf(subject, act) };
  let isLock = true;
  const entered = await first.run(lock).catch((error) => {
    isLock = !(error instanceof NoLock);
    return outcomeOf(error);
  });
  if (!isLock) return { lock, entered, nothing: doesNotApply(`Skipped: ${first.name} fails.`) };
  try {
    const survey = await stageOf(subject, (staging) => surveyIn(staging, subject.scripts));
    subject.renews = promises.renewal === true || survey.renewal.length > 0;
    return { lock: { ...lock, survey }, entered };
  } catch (error) {
    const reason = `Skipped: ${(error as Error).message}`;
    return { lock, entered, nothing: entered.verdict === 'fail' ? doesNotApply(reason) : lostTrack(reason) };
  }
}

/** Acquires and releases twice, because Redis learns a script at its first use. Later stagings start with these scripts loaded. */
async function surveyIn({ process, story, servers, key }: Staging, scripts: string[]): Promise<Survey> {
  const [p, q] = [process(), process()];
  let survey = noSurvey;
  for (const name of ['A', 'C']) {
    const a = p.holder(name, LONG_LEASE_MS);
    const commandsOf = async (call: () => Promise<void>, what: string) => {
      const from = p.seen.length;
      const end = await story.endOf(call(), LONG_LEASE_MS);
      if (end.how !== 'done') throw new NotStagedError(`${what} ${saidOf(end)}.`);
      // What nobody awaits comes a moment later.
      await story.pass(30);
      return p.seen.slice(from).flatMap(({ line, command }) => (line === 0 ? [command] : []));
    };
    const acquire = await commandsOf(a.acquire, 'acquire()');
    const [hasLost, hasToken] = [a.hasLost(), a.token() !== undefined];
    const release = await commandsOf(a.release, 'release()');
    survey = { ...noSurvey, acquire, release, hasLost, hasToken };
  }
  // Its other scripts: one renews, one waits.
  const [holder, waiter] = [p.holder('A', LEASE_MS), q.holder('B', LEASE_MS)];
  await story.endOf(holder.acquire(), LONG_LEASE_MS);
  const asked = waiter.acquire();
  const from = p.seen.length;
  // Some renew only when four fifths of the lease are over.
  await story.pass(LEASE_MS * 0.95);
  const [first, ...others] = p.seen.slice(from).filter(({ line }) => line === 0);
  const renewal = others.filter(({ at }) => first !== undefined && at < first.at + MOMENT_MS);
  survey.renewal = [first, ...renewal].flatMap((each) => each?.command ?? []);
  survey.callsOnLeaseLost = survey.renewal.length > 0 && holder.takesOnLeaseLost();
  await story.endOf(holder.release(), LEASE_MS);
  await story.endOf(asked, LEASE_MS);
  scripts.push(...new Set(servers.scriptsRun()));
  const isNamed = [...survey.acquire, ...survey.release].some(({ args }) => args.some((arg) => arg.includes(key)));
  return isNamed ? survey : { ...survey, isElsewhere: 'no command of the lock names the key that it is given.' };
}
