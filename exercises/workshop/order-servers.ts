// Real servers for what is written in an exercise about orders: a MySQL, a Redis and two nodes that stay warm from run to run.

import { fork } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { causeShown, type Drill } from '../../loadtest/harness/drill.ts';
import { realWorld } from '../../loadtest/harness/real-world.ts';
import { runCell } from '../../loadtest/harness/run-cell.ts';
import { openLocalTarget, type Target, whyNotOwnMysql } from '../../loadtest/harness/target.ts';
import { exerciseDrills, guardDrills, keyDrills } from '../../loadtest/orders/drills/index.ts';
import { rowOfGuard } from '../../loadtest/staircase/guards.ts';
import { KEY_LEASE_MS, PAYMENT_MIN_IDLE_MS, rowOfStrategy } from '../../loadtest/staircase/keys.ts';
import { usualSettings } from '../../loadtest/staircase/usual-settings.ts';
import { startBackends } from '../../scripts/stack/backends.ts';
import { hostArgs } from '../../scripts/stack/bundle.ts';
import { makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import type { ExternalParts } from './orders/contract.ts';
import type { RealJudge, RealRun, RealVerdict } from './real-judge.ts';

/** How long a file may take to be loaded, in milliseconds. */
const LOAD_LIMIT_MS = 10_000;
/** How long nothing may happen in a drill, in milliseconds: one that waits for a message to come again does so for twenty seconds. */
const IDLE_LIMIT_MS = 30_000;
/** A node that leaves a question unanswered for so long computes without end, in milliseconds. */
const SILENCE_MS = 5_000;
/** How often the nodes are asked, in milliseconds. */
const LOOK_MS = 500;

/** Which part of the nodes a drill is about, and what its nodes need. */
interface Family {
  part: keyof ExternalParts;
  /** The lock of the sales: it says where the stock is. */
  lock: string;
  /** The row that the drill is run under. What it does instead is what the file brings. */
  row: string;
}

const keys: Family = { part: 'answerOnce', lock: '8-auto-renew', row: rowOfStrategy('none') };
const payments: Family = { ...keys, part: 'takePayment' };
const cleanUps: Family = { part: 'cleanUp', lock: 'mysql-conditional', row: rowOfGuard('none') };
const ofPayments = ['redelivered', 'killed-at-work', 'booking-fails', 'sent-twice'];
const ofCleanUp = ['crossed-ticks', ...guardDrills.map(({ name }) => name)];
const drills = [...guardDrills, ...keyDrills, ...exerciseDrills];

function drillNamed(name: string): Drill {
  const drill = drills.find((drill) => drill.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name} of orders.`);
  return drill;
}

const partOf = (drill: string) => familyOf(drill).part;

function familyOf(drill: string): Family {
  if (ofPayments.includes(drill)) return payments;
  return ofCleanUp.includes(drill) ? cleanUps : keys;
}

/** The servers, two nodes, and the module that the nodes load. */
interface Warm {
  target: Target;
  /** Has the nodes load this file from now on. Rejects when one of them does not start. */
  load(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Why there can be no judgement here: a sentence that says what to install. */
class Lacking extends Error {}
/** What a file did that nothing can be judged after. The message is a sentence. */
class Fault extends Error {}

/** Real servers for exercises about orders. They load the file anew for each run. */
export function openOrderServers(): RealJudge {
  let warm: Promise<Warm> | undefined;
  /** Who hears what the nodes print: the run that is under way. */
  let hear: (node: string, line: string) => void = () => {};

  function open(): Promise<Warm> {
    warm ??= start((node, line) => hear(node, line));
    warm.catch(() => {
      warm = undefined;
    });
    return warm;
  }

  async function discard() {
    const open = await warm?.catch(() => undefined);
    warm = undefined;
    await open?.close();
  }

  async function run({ settings }: Exercise, options: RealRun): Promise<RealVerdict[]> {
    const { file, signal, narrate } = options;
    const verdicts: RealVerdict[] = [];
    const [first = ''] = settings.drills;
    let drill = first;
    let startedAt = performance.now();
    const tell = (verdict: RealVerdict['verdict'], reason: string, witnesses: string[] = []) => {
      const told = { drill, verdict, reason, witnesses };
      verdicts.push(told);
      options.onVerdict(told);
      return verdicts;
    };

    const ended = new AbortController();
    const faults = new AbortController();
    const report = (sentence: string) => faults.abort(new Fault(sentence));
    hear = (node, line) => {
      const entry = readEntry(line);
      if (entry?.err?.type === 'ExternalPartFault') report(`${entry.err.message}`);
      else if (entry === undefined) narrate(`${node} prints: ${line}`, performance.now() - startedAt);
    };
    try {
      signal.throwIfAborted();
      const problem = await whyNotLoaded(file, settings.drills.map(partOf));
      if (problem !== undefined) return tell('fail', problem);
      const { target, load } = await open();
      void target.partDied.then((sentence) => faults.abort(whyDied(sentence)));
      await load(file);
      void endSilence(target, report, ended.signal);
      for (drill of settings.drills) {
        options.onDrill(drill);
        startedAt = performance.now();
        const { verdict, reasons, witnesses } = await play(drill, { target, discard }, faults.signal, options);
        tell(verdict, reasons.join(' '), witnesses);
        if (verdict !== 'pass') break;
      }
      return verdicts;
    } catch (thrown) {
      if (thrown instanceof Lacking) return tell('not-applicable', thrown.message);
      const isClear = thrown instanceof Fault || signal.aborted;
      if (!isClear) await causeShown(faults.signal);
      const error = isClear ? thrown : (faults.signal.reason ?? thrown);
      const isSound = error instanceof Fault && error === faults.signal.reason && (await areAlive(await open()));
      // What can't be brought in order is not used again.
      if (!isSound) await discard();
      signal.throwIfAborted();
      if (error instanceof Fault) return tell('fail', error.message);
      throw error;
    } finally {
      hear = () => {};
      ended.abort();
    }
  }

  return {
    async warmUp() {
      await open();
    },
    run,
    whyNotLoaded: ({ file, settings }) => whyNotLoaded(file, settings.drills.map(partOf)),
    close: discard,
  };
}

/** Plays a drill. Rejects with Fault when the file did what can't be judged, and as the signal of the run says. */
async function play(
  name: string,
  { target, discard }: { target: Target; discard: () => Promise<void> },
  faulty: AbortSignal,
  { signal, narrate }: RealRun,
) {
  const { lock, row } = familyOf(name);
  const idle = new AbortController();
  const why = new Fault(`For ${IDLE_LIMIT_MS / 1_000} s nothing happens: does your file wait for what never comes?`);
  const timer = setTimeout(() => idle.abort(why), IDLE_LIMIT_MS);
  try {
    for (const node of target.nodes) await node.setLock(lock);
    const world = realWorld({
      targets: { open: async () => target, discard },
      settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs: KEY_LEASE_MS },
      signal: AbortSignal.any([faulty, idle.signal, signal]),
    });
    const record = await runCell({ stage: row, drill: drillNamed(name) }, world, {
      async narrate(sentence, atMs) {
        timer.refresh();
        narrate(sentence, atMs);
      },
    });
    signal.throwIfAborted();
    if (record.verdict === 'unknown') await causeShown(faulty);
    if (record.verdict !== 'fail') for (const end of [faulty, idle.signal]) end.throwIfAborted();
    return record;
  } finally {
    clearTimeout(timer);
  }
}

/** Reports a node that lives and answers nobody, and kills it: nothing else ends it. Never rejects. */
async function endSilence({ nodes }: Target, report: (sentence: string) => void, ended: AbortSignal) {
  while (!ended.aborted) {
    const silent = await Promise.all(nodes.map((node) => node.isSilentFor(SILENCE_MS)));
    const [first, ...others] = nodes.filter((_, at) => silent[at]);
    if (first !== undefined && !ended.aborted) {
      report(`${first.name} no longer answers anybody: your file computes without end.`);
      for (const { process } of [first, ...others]) await process?.kill();
    }
    await sleep(LOOK_MS, undefined, { ref: false });
  }
}

async function areAlive({ target }: Warm): Promise<boolean> {
  const states = await Promise.allSettled(target.nodes.map((node) => node.state()));
  return states.every(({ status }) => status === 'fulfilled');
}

/** Why a file can't be judged, as a sentence. Undefined when it can be loaded and has a part that is asked for. */
async function whyNotLoaded(file: string, parts: string[]): Promise<string | undefined> {
  const name = basename(file);
  if (!existsSync(file)) return `There is no file ${name}.`;
  const [script = '', ...execArgv] = (await hostArgs('exercises/workshop/orders/load-part.ts')).toReversed();
  const child = fork(script, [file], { execArgv: execArgv.toReversed(), stdio: 'ignore', cwd: projectDir });
  const slow = `it is not loaded within ${LOAD_LIMIT_MS / 1_000} seconds: does it compute without end?`;
  const found = await Promise.race([
    new Promise<string[] | string>((resolve) => {
      child.once('message', (message) => resolve(message as string[] | string));
      child.once('close', (code, end) => resolve(`it ends its process while it is loaded (${code ?? end})`));
    }),
    sleep(LOAD_LIMIT_MS, slow, { ref: false }),
  ]);
  child.kill('SIGKILL');
  if (typeof found === 'string') return `${name} can't be loaded: ${asClause(found)}`;
  const missing = parts.find((part) => !found.includes(part));
  return missing && `${name} must export a function ${missing}, and it exports ${found.join(', ')} only.`;
}

/** What esbuild says of a file that is no TypeScript is several lines long. */
function asClause(found: string): string {
  const [, line, what] = /:(\d+):\d+: ERROR: (.*)$/.exec(found) ?? [];
  const clause = line === undefined ? found : `line ${line}: ${what}`;
  return /[.?]$/.test(clause) ? clause : `${clause}.`;
}

/** A line of a node's log. Undefined for what somebody else has printed. */
function readEntry(line: string): { err?: { type?: string; message?: string } } | undefined {
  try {
    const entry = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && 'level' in entry ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** The end of a node is the file's doing; that of another server is not. */
function whyDied(sentence: string): Error {
  const [end = ''] = sentence.split('\n');
  return end.startsWith('node-') ? new Fault(`${end}: does your file call process.exit()?`) : new Error(`${end}.`);
}

async function start(onLine: (node: string, line: string) => void): Promise<Warm> {
  const whyNot = whyNotOwnMysql();
  if (whyNot !== undefined) throw new Lacking(whyNot);
  const backends = await startBackends(['mysql']);
  const temp = makeTempDir();
  const module = join(temp.dir, 'exercise.mjs');
  const closing = [() => backends.stop(), async () => temp.remove()];
  const close = async () => {
    for (const end of closing) await end();
  };
  try {
    if (backends.lacks.mysql !== undefined) throw new Lacking(backends.lacks.mysql);
    // The nodes load it again at each start. Until there is something to judge it does nothing.
    writeFileSync(module, 'export const cleanUp = async () => {};\n');
    const env = {
      ...usualSettings,
      ORDER_MODULE: module,
      REFUND: 'look-first',
      PAYMENTS: 'on',
      PAYMENT_MIN_IDLE_MS: String(PAYMENT_MIN_IDLE_MS),
      LEASE_MS: String(KEY_LEASE_MS),
      RETRY_DELAY_MS: '5',
      WAIT_TIMEOUT_MS: '10000',
      LOCK_VERSION: '',
      LOG_LEVEL: 'error',
    };
    const target = await openLocalTarget(
      { forDrills: true, env, service: 'exercises/workshop/orders/node.ts', onLine },
      backends,
    );
    closing.unshift(() => target.close());
    return {
      target,
      async load(file) {
        writeFileSync(module, `export * from ${JSON.stringify(pathToFileURL(file).href)};\n`);
        await Promise.all(target.nodes.map(restart));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function restart({ name, process }: Target['nodes'][number]) {
  await process?.kill();
  await process?.start().catch((error: Error) => {
    const why = error.message.match(/is not allowed: (.*)/)?.[1] ?? error.message.split('\n')[0];
    throw new Fault(`${name} does not start with your file: ${why}`);
  });
}
