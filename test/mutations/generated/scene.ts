// A scene: a few buyers and random faults, again and again, with no idea of what the checks ask. What is seen of a lock is compared with what
// was seen of another.

import { getEventListeners } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { promisesOfOurs } from '../../../loadtest/staircase/conformance.ts';
import { strategies } from '../../../locks/index.ts';
import type { CreateLock, Lock } from '../../../locks/lock.ts';
import { type LockCode, openLockLab, readLockCode } from '../../../simulation/lock-lab.ts';
import type { LockSource } from '../../../simulation/lock-service.ts';
import { createLuck } from '../../../simulation/luck.ts';
import { OUTSIDE } from '../../../simulation/server.ts';

const LEASE_MS = 600;
const RETRY_DELAY_MS = 20;
/** By then who has gone waits no more, in milliseconds. */
const SOON_MS = 500;
/** A single try takes no longer without a fault, in milliseconds; and so many replies. */
const TRY_MS = 100;
const TRY_REPLIES = 4;
/** By then it has left nothing in Redis, in milliseconds. */
const GONE_MS = 50;
/** What a timer or a reply takes, in milliseconds. */
const SLACK_MS = 20;
const MASTERS = 5;
/** So many masters may be away. */
const AWAY = 2;
/** Almost a lease. */
const DELAY_MS = 0.9 * LEASE_MS;
const PERMITS = 2;
const KEY = 'scene:lock';
/** By then everybody is inside, or never will be. */
const PATIENCE_LEASES = 10;
/** What nobody renews is gone by then. */
const LEFT_LEASES = 12;
const LIMIT_MS = 200 * LEASE_MS;
/** Votes that are later than so many leases are those of nobody: a master is waited for for 50 ms. */
const VOTES_LATE = 0.1;
const VOTE_LIMIT_MS = 50;
/** What a process of the service waits for an answer. */
const ANSWER_LIMIT_MS = 700;
/** A release that failed is tried again after so many milliseconds, and so often. */
const AGAIN_MS = 100;
const RELEASES = 60;
/** So many locks may be reached after their end, each time: what holds the last one. */
const REACHED = 2;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What a family of runs is like: a chance is from 0 to 1, a time in leases. */
interface Family {
  buyers?: number;
  rounds?: number;
  /** The longest hold. */
  hold?: number;
  /** How long the lease is that the lock is given. All other times stay as they are. */
  lease?: number;
  /** A process gives a connection up on which nothing is answered. */
  givesUp?: boolean;
  /** All ask at one moment. */
  atOnce?: boolean;
  tries?: number;
  leaves?: number;
  nests?: number;
  strays?: number;
  hangs?: boolean;
  late?: number;
  /** How long each reply takes, in milliseconds. */
  slowMs?: number;
  /** Who is told of a loss goes, and does not release. */
  abandons?: number;
  /** A release that failed is not tried again: the lease ends by itself. */
  releasesOnce?: boolean;
  /** It has a replica. */
  isReplicated?: boolean;
  /** Not of masters: when they are all away or slow, it is up to the lock how soon it gives up, and what it sends until then. */
  isOfOneServer?: boolean;
  /** Of masters alone. */
  isOfMasters?: boolean;
  /** How late a reply to the first process is while the fault lasts, in milliseconds. */
  delayMs?: number;
  /** One is inside after the other, with owner tokens of so many characters: none of them stays in memory. */
  tokenLength?: number;
  /** Who is inside computes for two leases, and its process does nothing else. */
  blocks?: number;
  /** Who only reads: of a lock that lets readers in together. */
  reads?: number;
  fault?: Fault;
}

/** What happens to a process or a server, once, at a random time. */
interface Fault {
  begins(stage: Stage): unknown;
  /** Nothing comes to the first process, or from it, meanwhile. */
  isSilence?: boolean;
  /** What was on its way leaves a key for a lease or two. */
  leavesKeys?: boolean;
  /** It begins before the first who is inside has renewed. */
  isSoon?: boolean;
  /** It is over after a random time, which is no longer than `lasts` leases. */
  ends?(stage: Stage): unknown;
  lasts?: number;
}

function cut(how: 'reset' | 'silent') {
  return ({ processes: [p] }: Stage) => {
    for (const line of p.lines) line.cut(how);
  };
}

function restore({ processes }: Stage) {
  for (const { lines } of processes) for (const line of lines) line.restore();
}

/** The replica takes the place of its Redis: every connection ends. */
function failOver(stage: Stage) {
  for (const { lines } of stage.processes) for (const line of lines) line.cut('reset');
  stage.replica.takeOver();
  restore(stage);
}

const SILENCE: Fault = { begins: cut('silent'), ends: restore, lasts: 4, isSilence: true, leavesKeys: true };

const families: Record<string, Family> = {
  calm: { tries: 0.2, leaves: 0.2 },
  crowd: { buyers: 8, rounds: 1, hold: 0.1, atOnce: true },
  turns: { buyers: 6, rounds: 2, hold: 0.3 },
  nested: { nests: 0.7, hold: 0.3 },
  'nested long': { nests: 0.8, hold: 2, rounds: 1 },
  long: { hold: 1.6, rounds: 2 },
  longer: { hold: 4, rounds: 1 },
  impatient: { leaves: 0.7, hold: 0.5 },
  // Whoever goes while a command is under way waits for nobody afterwards, however long the others hold.
  'impatient, long': { leaves: 0.7, hold: 2, rounds: 3 },
  'impatient, slow': { leaves: 0.7, hold: 0.3, slowMs: 900 },
  'long tokens': { tokenLength: 65_536 },
  trying: { tries: 0.8, hold: 0.3, rounds: 4 },
  strays: { strays: 0.6 },
  hung: { hangs: true, rounds: 1, buyers: 3 },
  late: { late: 0.1 },
  'very late': { late: 0.8, rounds: 2 },
  herd: { buyers: 30, rounds: 1, hold: 0.05, atOnce: true },
  'turns, long lease': { buyers: 6, lease: 20, hold: 0.2, leaves: 0.2 },
  'late, long lease': { lease: 20, late: 0.1, hold: 0.2 },
  readers: { reads: 0.6, hold: 0.6 },
  'readers in a crowd': { reads: 0.9, buyers: 8, hold: 1.5, rounds: 2 },
  'readers without end': { reads: 0.93, buyers: 12, hold: 0.5, rounds: 20 },
  'readers alone': { reads: 1, buyers: 8, rounds: 1, hold: 2, atOnce: true },
  'readers lost': { reads: 0.6, hold: 3, rounds: 2, fault: { begins: ({ endLease }) => endLease() } },
  'readers nested': { reads: 0.7, nests: 0.6, hold: 0.3 },
  'readers forgotten': { reads: 0.8, hold: 3, rounds: 2, fault: { begins: ({ forgetKeys }) => forgetKeys() } },
  'readers crash': { reads: 0.6, hold: 1, fault: { begins: ({ processes: [, q] }) => q.node.kill() } },
  'one of two readers dies': {
    rounds: 1,
    reads: 0.7,
    hold: 5,
    fault: { isSoon: true, begins: ({ processes: [, q] }) => q.node.kill() },
  },
  'last reader dies': {
    buyers: 1,
    rounds: 1,
    reads: 1,
    hold: 5,
    fault: { isSoon: true, begins: ({ processes: [p] }) => p.node.kill() },
  },
  'readers in silence': { reads: 0.6, hold: 2, fault: SILENCE },
  'crash in a crowd': {
    buyers: 10,
    rounds: 1,
    atOnce: true,
    fault: { begins: ({ processes: [, q] }) => q.node.kill() },
  },
  // Business that computes: no timer of the process runs before the write.
  computing: { buyers: 3, rounds: 2, blocks: 0.4 },
  'long pause': {
    buyers: 3,
    hold: 3,
    fault: { begins: ({ processes: [p] }) => p.node.stop(), ends: ({ processes: [p] }) => p.node.resume(), lasts: 5 },
  },
  crash: { fault: { begins: ({ processes: [, q] }) => q.node.kill() } },
  lost: { buyers: 3, hold: 5, rounds: 1, fault: { begins: ({ endLease }) => endLease() } },
  'lost and gone': { buyers: 3, hold: 5, rounds: 1, abandons: 0.6, fault: { begins: ({ endLease }) => endLease() } },
  'lost reply': { rounds: 5, slowMs: 250, hold: 0.1, fault: { begins: cut('reset'), ends: restore, lasts: 0.2 } },
  reset: { hold: 1, fault: { begins: cut('reset'), ends: restore, lasts: 0.5 } },
  silence: { hold: 1, fault: { begins: cut('silent'), ends: restore, lasts: 2, leavesKeys: true } },
  pause: {
    hold: 1,
    fault: { begins: ({ processes: [p] }) => p.node.stop(), ends: ({ processes: [p] }) => p.node.resume(), lasts: 2.5 },
  },
  refusal: {
    hold: 1,
    fault: { begins: ({ refuseWrites }) => refuseWrites(1), ends: ({ refuseWrites }) => refuseWrites(0), lasts: 0.5 },
  },
  'refusal, released once': {
    hold: 1,
    releasesOnce: true,
    fault: { begins: ({ refuseWrites }) => refuseWrites(1), ends: ({ refuseWrites }) => refuseWrites(0), lasts: 0.5 },
  },
  'reset, long lease': { lease: 10, rounds: 4, fault: { begins: cut('reset'), ends: restore, lasts: 0.5 } },
  // So late that each reply may be lost, and in time for a vote.
  'lost votes, long lease': {
    lease: 10,
    rounds: 8,
    hold: 0.05,
    slowMs: 40,
    fault: { begins: cut('reset'), ends: restore, lasts: 0.1 },
  },
  'outage, long lease': {
    lease: 20,
    givesUp: true,
    rounds: 5,
    fault: {
      begins: ({ servers }) => servers.map((server) => server.stop()),
      ends: ({ servers }) => servers.map((server) => server.resume()),
      lasts: 4,
    },
  },
  // Several of a process wait when Redis dies: each must find out, and none may sleep until Redis is back.
  'outage in a crowd': {
    buyers: 10,
    rounds: 2,
    hold: 0.5,
    lease: 20,
    givesUp: true,
    isOfOneServer: true,
    fault: {
      begins: ({ processes }) => {
        for (const { lines } of processes) for (const line of lines) line.cut('reset');
      },
      ends: restore,
      lasts: 10,
    },
  },
  // Who is inside can't renew, and the lease ends meanwhile; or it has entered by a late reply, and then can't.
  'long silence': { buyers: 3, rounds: 2, hold: 4, fault: SILENCE },
  'slow, then silence': { rounds: 2, hold: 3, slowMs: 450, fault: SILENCE },
  // A lease that is passed on may be over before the reply says so.
  'slow for a while': {
    buyers: 3,
    rounds: 6,
    hold: 2,
    isOfOneServer: true,
    delayMs: DELAY_MS,
    fault: {
      begins: ({ processes: [p] }) => {
        for (const line of p.lines) line.delayReplies(DELAY_MS);
      },
      ends: ({ processes: [p] }) => {
        for (const line of p.lines) line.delayReplies(0);
      },
      lasts: 2,
    },
  },
  // A majority answers, and says no to those who wait.
  'some masters away': {
    hold: 1,
    isOfMasters: true,
    fault: {
      begins: ({ processes: [p] }) => {
        for (const line of p.lines.slice(0, AWAY)) line.cut('silent');
      },
      ends: restore,
      lasts: 3,
    },
  },
  // What the replica has not heard is forgotten.
  failover: {
    isReplicated: true,
    rounds: 5,
    hold: 0.6,
    fault: { begins: ({ replica }) => replica.fallBehind(), ends: failOver, lasts: 2 },
  },
  'replica behind, long lease': {
    isReplicated: true,
    lease: 20,
    rounds: 5,
    leaves: 0.5,
    fault: { begins: ({ replica }) => replica.fallBehind(), ends: ({ replica }) => replica.catchUp(), lasts: 4 },
  },
  forgetting: { fault: { begins: ({ forgetScripts }) => forgetScripts() } },
};

/** What was seen in the runs of a family. */
export interface Seen {
  /** What must not be, by its name: the seed in which it was seen first. */
  odd: Record<string, number>;
  /** Of each run: how many commands came, and the longest that somebody waited, in milliseconds. */
  runs: { commands: number; slowestMs: number }[];
}
export type Scene = Record<string, Seen>;

/** What differs, in words; undefined when the lock behaves like the one with which it is compared. */
export interface Difference {
  family: string;
  seed: number;
  what: string;
}

type Stage = Awaited<ReturnType<typeof openStage>>;
type Process = Stage['processes'][0];

/** A permit is not taken twice by one holder, few locks have readers, and a vote that is very late is none. */
const familiesOf = ({ name, facts }: LockSource, only?: string[]) =>
  Object.entries(families).filter(
    ([family, { nests, reads, late = 0, slowMs = 0, isReplicated, isOfOneServer, isOfMasters }]) =>
      (!isReplicated || facts.replicas !== undefined) &&
      (!isOfMasters || promisesOfOurs[name]?.masters) &&
      (only === undefined || only.includes(family)) &&
      ((late <= VOTES_LATE && slowMs < VOTE_LIMIT_MS && !isOfOneServer) || !promisesOfOurs[name]?.masters) &&
      (nests === undefined || !promisesOfOurs[name]?.permits) &&
      (reads === undefined || 'createReadLock' in (strategies[name] ?? {})),
  );

/** Plays the runs of each family, or of these alone. */
export async function playScene(source: LockSource, seeds: number, only?: string[]): Promise<Scene> {
  const code = await readLockCode(source);
  const scene: Scene = {};
  for (const [name, family] of familiesOf(source, only)) {
    const seen: Seen = { odd: {}, runs: [] };
    for (let seed = 1; seed <= seeds; seed += 1)
      await playRun(code, source, family, seed, seen, Number.POSITIVE_INFINITY);
    scene[name] = seen;
  }
  return scene;
}

/** Plays more runs of one family of the lock as it is, and adds to its `usual`, up to the first that shows `what`. */
export async function playMore(source: LockSource, usual: Scene, { family: name, what }: Difference, seeds: number) {
  const [family, seen] = [families[name], usual[name]];
  if (family === undefined || seen === undefined) return;
  const code = await readLockCode(source);
  while (seen.runs.length < seeds && seen.odd[what] === undefined)
    await playRun(code, source, family, seen.runs.length + 1, seen, Number.POSITIVE_INFINITY);
}

/** Plays the runs of each family that `usual` has, up to the first that shows what none of those has shown. */
export async function findDifference(
  source: LockSource,
  seeds: number,
  usual: Scene,
  firstSeed = 1,
): Promise<Difference | undefined> {
  const code = await readLockCode(source);
  /** A key that the lock as it is leaves for a while in any family. */
  const isLeft = (what: string) =>
    what.startsWith('a key when') && Object.values(usual).some(({ odd }) => odd[what] !== undefined);
  // How often a lock asks five masters depends on its luck more than how often it asks one server.
  const much = promisesOfOurs[source.name]?.masters ? 2.5 : 2;
  for (const [name, family] of familiesOf(source, Object.keys(usual))) {
    const { odd = {}, runs = [] } = usual[name] ?? {};
    const most = {
      commands: Math.max(...runs.map((run) => run.commands)),
      slowestMs: Math.max(...runs.map((run) => run.slowestMs)),
    };
    for (let seed = firstSeed; seed <= seeds; seed += 1) {
      const seen: Seen = { odd: {}, runs: [] };
      const { commands, slowestMs } = await playRun(code, source, family, seed, seen, 4 * most.commands + 200);
      const differs = (what: string) => ({ family: name, seed, what });
      const what = Object.keys(seen.odd).find((each) => odd[each] === undefined && !isLeft(each));
      if (what !== undefined) return differs(what);
      const usualCommands = runs[seed - 1]?.commands ?? most.commands;
      if (commands > Math.max(much * usualCommands, 1.3 * most.commands) + 60)
        return differs(`${commands} commands, and ${usualCommands} are usual`);
      if (slowestMs > most.slowestMs + 2 * LEASE_MS)
        return differs(`somebody waited ${Math.round(slowestMs)} ms, and ${Math.round(most.slowestMs)} are usual`);
    }
  }
  return undefined;
}

/** `hasCause`: an error led to that one. */
type End = { how: 'done' | 'pending' } | { how: 'rejected'; code: string; message: string; hasCause: boolean };

/** The scripts of a lock: those of the folder `lua` beside its own folder, or further up. */
function scriptsBeside(file: string): string[] {
  const folder = join(dirname(file), 'lua');
  if (!existsSync(folder)) return scriptsBeside(dirname(file));
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** What says what went wrong. Of a command that failed, a lock may tell as it likes. */
function codeOf(error: { code?: string; name?: string } | undefined): string {
  const { code, name } = error ?? {};
  return code ?? (name === 'ReplyError' ? 'Error' : (name ?? String(error)));
}

async function openStage(code: LockCode, source: LockSource, { lease = 1, givesUp }: Family, seed: number) {
  const { masters = false, permits = false, renewal = false, fairness } = promisesOfOurs[source.name] ?? {};
  const lab = await openLockLab(masters ? MASTERS : 0);
  for (let replica = 0; replica < (source.facts.replicas ?? 0); replica += 1)
    lab.redis.addReplica(() => hasHeard ?? lab.redis.heard.length);
  const servers = masters ? lab.masters : [lab.redis];
  // A script that no server knows costs one more reply, which is late in some families.
  for (const server of servers)
    server.executeAll(
      OUTSIDE,
      scriptsBeside(source.file).map((text) => ['SCRIPT', 'LOAD', text]),
    );
  const { schedule } = lab;
  /** How much the replica has heard when it is behind, and what the lock was then. */
  let hasHeard: number | undefined;
  let heardOf = '';
  const present = () => String(lab.redis.execute(OUTSIDE, ['DUMP', KEY]));
  const replica = {
    fallBehind() {
      hasHeard = lab.redis.heard.length;
      heardOf = present();
    },
    catchUp() {
      hasHeard = undefined;
    },
    takeOver() {
      if (present() !== heardOf) lab.redis.execute(OUTSIDE, ['DEL', KEY]);
      hasHeard = undefined;
    },
  };
  const luck = createLuck(seed * 7919);
  const odd = new Set<string>();
  const waits: number[] = [];
  /** The options of each lock. */
  const given: WeakRef<object>[] = [];
  let commands = 0;

  function startProcess() {
    const { node, proxies, exports, clients } = lab.start(code, givesUp ? { answerLimitMs: ANSWER_LIMIT_MS } : {});
    const lines = masters ? proxies.slice(1) : proxies;
    for (const line of lines)
      line.watch(({ args }) => {
        if (args.some((arg) => arg.includes(KEY))) commands += 1;
      });
    return {
      node,
      lines,
      clients,
      createLock: exports.createLock as CreateLock,
      createReadLock: (exports as { createReadLock?: CreateLock }).createReadLock ?? (exports.createLock as CreateLock),
    };
  }

  return {
    lab,
    luck,
    odd,
    waits,
    given,
    leaseMs: lease * LEASE_MS,
    replica,
    isRenewed: renewal,
    isInOrder: fairness === 'order',
    permits: permits ? PERMITS : 1,
    commands: () => commands,
    servers,
    processes: [startProcess(), startProcess()] as const,
    startProcess,
    now: schedule.now,
    pass: (ms: number) => new Promise<void>((resolve) => schedule.after(ms, resolve)),
    endOf: (call: Promise<unknown>, limitMs: number) =>
      new Promise<End>((resolve) => {
        call.then(
          () => resolve({ how: 'done' }),
          (error) =>
            resolve({
              how: 'rejected',
              code: codeOf(error),
              message: String(error?.message),
              hasCause: error?.cause !== undefined,
            }),
        );
        schedule.after(limitMs, () => resolve({ how: 'pending' }));
      }),
    keys: () => servers.flatMap((server) => server.execute(OUTSIDE, ['KEYS', '*']) as string[]),
    isNumber: (key: string) => servers.some((server) => /^\d+$/.test(String(server.execute(OUTSIDE, ['GET', key])))),
    subscriptions: () =>
      servers.flatMap((server) => server.execute(OUTSIDE, ['PUBSUB', 'CHANNELS']) as string[]).length,
    endLease: () => void servers.map((server) => server.execute(OUTSIDE, ['DEL', KEY])),
    forgetKeys: () => void servers.map((server) => server.execute(OUTSIDE, ['FLUSHALL'])),
    refuseWrites: (is: 0 | 1) =>
      void servers.map((server) => server.execute(OUTSIDE, ['CONFIG', 'SET', 'min-replicas-to-write', is])),
    forgetScripts: () => void servers.map((server) => server.execute(OUTSIDE, ['SCRIPT', 'FLUSH'])),
  };
}

/** Plays one run, and adds to what was `seen`. It ends early when there are too many commands. */
async function playRun(
  code: LockCode,
  source: LockSource,
  family: Family,
  seed: number,
  seen: Seen,
  mostCommands: number,
) {
  const stage = await openStage(code, source, family, seed);
  const { lab, odd, waits } = stage;
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  const die = () => void odd.add('a process dies');
  const goBack = events.map((event) => {
    const others = process.listeners(event as 'uncaughtException');
    process.removeAllListeners(event).on(event, die);
    return () => {
      process.removeAllListeners(event);
      for (const other of others) process.on(event, other);
    };
  });
  let isOver = false;
  try {
    const playing = play(stage, family).catch((error) => odd.add(`it throws: ${error}`));
    void playing.then(() => {
      isOver = true;
    });
    await lab.schedule.until(() => isOver || stage.commands() > mostCommands, LIMIT_MS);
    if (!isOver && stage.commands() <= mostCommands) odd.add('no end');
    // It takes long: one run of a family tells.
    if (seed === 1 && isOver && family.fault === undefined && !family.hangs) await lookForLeaks(stage);
  } catch (error) {
    odd.add(`it throws: ${error}`);
  } finally {
    for (const back of goBack) back();
    restore(stage);
    stage.refuseWrites(0);
    lab.close();
  }
  for (const what of odd) seen.odd[what] ??= seed;
  const run = { commands: stage.commands(), slowestMs: Math.max(0, ...waits) };
  seen.runs.push(run);
  return run;
}

/** Nothing leads to the options of a lock any more that nobody has. */
async function lookForLeaks({ given, odd }: Stage) {
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  if (given.filter((each) => each.deref() !== undefined).length > REACHED) odd.add('memory stays');
}

/** A key without what differs from run to run. */
const plainOf = (name: string) => name.replace(/[0-9a-f-]{8,}.*/, '…');

const TOKENS = 40;

/** What stays of many acquisitions grows with their tokens: Node itself keeps far less. */
async function shopWithTokens(stage: Stage, length: number) {
  const shop = createShop(stage, false);
  let used = 0;
  for (const _round of ['first', 'second']) {
    for (let at = 0; at < TOKENS; at += 1) await shop.passThrough(stage.processes[0], length);
    await stage.pass(LEASE_MS);
    for (const { heard } of stage.servers) heard.length = 0;
    collectGarbage();
    const before = used;
    used = process.memoryUsage().heapUsed;
    if (before > 0 && used - before > (TOKENS * length) / 2) stage.odd.add('tokens stay in memory');
  }
}

/** No replica has confirmed the lock, and Redis has answered that it is given back. */
const isGivenBack = (end: End) => end.how === 'rejected' && end.code === 'NOT_REPLICATED' && !end.hasCause;
/** Redis has not heard of such a command. */
const NEVER_SENT = /^Stream isn't writeable/;
/** It failed, and nobody knows what Redis has. */
const isUnknown = (end: End) => end.how === 'rejected' && end.code !== 'LOCK_NOT_HELD';

/** Somebody who is in the shop for one hold. */
interface Buyer {
  process: Process;
  lock: Lock;
  askedAt: number;
  isTold: boolean;
  isReader: boolean;
  enteredAt: number;
  /** Another has entered since. */
  isSucceeded?: boolean;
  /** Its release is under way. */
  isLeaving?: boolean;
  /** When the key was deleted while it held. */
  robbedAt?: number;
}

async function play(stage: Stage, family: Family) {
  const { processes, luck, pass, odd } = stage;
  const { buyers = 4, atOnce, fault, late, slowMs, hangs } = family;
  if (family.tokenLength !== undefined) return shopWithTokens(stage, family.tokenLength);
  const shop = createShop(stage, late !== undefined);
  const begin = stage.processes.map(({ node }) => node.world.timers().length);
  if (late !== undefined) for (const process of processes) makeLate(stage, process, late);
  if (slowMs !== undefined) for (const line of processes.flatMap(({ lines }) => lines)) line.delayReplies(slowMs);
  const all = Array.from({ length: buyers }, async (_, at) => {
    await pass(atOnce ? 10 : luck() * LEASE_MS);
    await shop.visit(processes[at % 2] as Process, family, hangs === true && at === 0);
  });
  async function goWrong({ begins, ends, lasts = 0, isSilence, isSoon }: Fault) {
    if (isSoon) await shop.firstInside;
    await pass(luck() * (isSoon ? 0.2 : 2.5) * LEASE_MS);
    shop.noteFault();
    const before = stage.keys();
    begins(stage);
    const after = stage.keys();
    const isTaken = (names: string[]) => names.includes(KEY);
    if ((isTaken(before) && !isTaken(after)) || (before.length > 0 && after.length === 0)) shop.noteRobbery();
    const since = stage.now();
    await pass(luck() * lasts * LEASE_MS);
    if (isSilence) shop.noteSilence(processes[0], since);
    ends?.(stage);
  }
  await Promise.all(fault ? [...all, goWrong(fault)] : all);
  await pass(LEASE_MS / 10);
  // The number of the last token stays.
  const keysLeft = () => (hangs ? [] : stage.keys().filter((key) => !(shop.hasTokens() && stage.isNumber(key))));
  // What the dead and the silent have left the next one may remove.
  if (processes.every(({ node }) => !node.isDead()) && !fault?.leavesKeys)
    for (const key of keysLeft()) odd.add(`a key when all have left: ${plainOf(key)}`);
  // A vote is waited for for half a second at most, and the timer may outlive it.
  await pass(0.8 * LEASE_MS);
  const timersStay = () =>
    processes.some(({ node }, at) => !node.isDead() && node.world.timers().length > (begin[at] ?? 0));
  if (timersStay() && !hangs) odd.add('timers run on when all have left');

  // All is over: a newcomer gets in at once, and then there is nothing left.
  await pass(3 * LEASE_MS);
  await shop.comesIn(stage.startProcess());
  await pass(LEASE_MS);
  const before = stage.commands();
  await pass(2 * LEASE_MS);
  if (stage.commands() > before && !hangs) odd.add('commands when all have gone');
  await pass(LEFT_LEASES * LEASE_MS);
  for (const key of keysLeft()) odd.add(`a key stays: ${plainOf(key)}`);
  if (stage.subscriptions() > 0 && !hangs) odd.add('subscriptions stay');
  if (timersStay() && !hangs) odd.add('timers stay');
}

function createShop(stage: Stage, isLate: boolean) {
  const { leaseMs, luck, pass, endOf, now, odd, waits, permits, isRenewed, isInOrder, given, keys, isNumber } = stage;
  const inside = new Set<Buyer>();
  let noteFirst = () => {};
  const firstInside = new Promise<void>((resolve) => {
    noteFirst = resolve;
  });
  const waiting = new Set<Buyer>();
  let stock = 1_000;
  let newest = 0n;
  let hasTokens = false;
  let owners = 0;
  // What is late may end a lease.
  let wasFault = isLate;

  const isAlive = ({ process }: Buyer) => !process.node.isDead();
  const call = (process: Process, act: () => Promise<unknown>) => {
    const called = new Promise((resolve, reject) =>
      process.node.take(() => void (async () => act())().then(resolve, reject)),
    );
    called.catch(() => {});
    return called;
  };

  function open(process: Process, ownerToken: string, isReader = false): Buyer {
    const buyer: Buyer = { process, lock: undefined as never, askedAt: now(), enteredAt: 0, isTold: false, isReader };
    const timing = { leaseMs, renewEveryMs: leaseMs / 3, retryDelayMs: RETRY_DELAY_MS };
    const onLeaseLost = () => {
      if (buyer.isTold) odd.add('told twice');
      if (!wasFault && isRenewed) odd.add('told of a loss without a fault');
      if (!inside.has(buyer) && !buyer.isLeaving && isAlive(buyer)) odd.add('told of a loss, and it did not hold');
      buyer.isTold = true;
    };
    process.node.take(() => {
      const options = { ...process.clients, ...timing, key: KEY, ownerToken, permits, onLeaseLost };
      given.push(new WeakRef(options));
      buyer.lock = (isReader ? process.createReadLock : process.createLock)(options as never);
    });
    return buyer;
  }

  function enter(buyer: Buyer, isOnce: boolean) {
    waiting.delete(buyer);
    const others = [...inside].filter((other) => isAlive(other) && !(other.isReader && buyer.isReader));
    if (others.filter((other) => !other.isTold).length >= permits) odd.add('too many inside');
    // A lease that nobody renews ends.
    if (others.length >= permits && isRenewed) odd.add('too many inside, told or not');
    for (const other of others) {
      other.isSucceeded = true;
      if (!isRenewed || permits > 1 || other.isTold) continue;
      void pass(leaseMs + SLACK_MS).then(() => {
        if (inside.has(other) && isAlive(other) && !other.isTold)
          odd.add('not told for a lease that another is inside');
      });
    }
    if (keys().some((name) => !name.startsWith(KEY))) odd.add('a key of another name');
    if (isInOrder && !isOnce && [...waiting].some((other) => isAlive(other) && other.askedAt < buyer.askedAt - 30))
      odd.add('overtaken');
    inside.add(buyer);
    noteFirst();
    buyer.enteredAt = now();
    waits.push(now() - buyer.askedAt);
  }

  /** Reads as the stock has it: an older token is refused. */
  function shows(buyer: Buyer): boolean {
    const token = buyer.lock.fencingToken;
    if (token === undefined) return true;
    hasTokens = true;
    if (BigInt(token) < newest) return false;
    newest = BigInt(token);
    return true;
  }

  async function visit(process: Process, family: Family, hangs: boolean) {
    for (let round = 0; round < (family.rounds ?? 3); round += 1) {
      if (process.node.isDead()) return;
      owners += 1;
      await buy(process, family, hangs, `00000000-0000-4000-8000-000000000000:${owners}`);
      await pass(luck() * 0.3 * LEASE_MS);
    }
  }

  async function buy(process: Process, family: Family, hangs: boolean, ownerToken: string) {
    const buyer = open(process, ownerToken, family.reads !== undefined && luck() < family.reads);
    const patience = new AbortController();
    const isOnce = luck() < (family.tries ?? 0);
    let goneAt = Number.POSITIVE_INFINITY;
    if (!isOnce && luck() < (family.leaves ?? 0))
      void pass(luck() * (luck() < 0.5 ? 3 : 0.6 * LEASE_MS)).then(() =>
        process.node.take(() => {
          goneAt = now();
          patience.abort();
        }),
      );
    const signal = isOnce ? AbortSignal.abort() : patience.signal;
    if (family.strays !== undefined && luck() < family.strays)
      await releasesAstray(buyer, 'a release() before any acquire()');
    buyer.askedAt = now();
    if (!isOnce) waiting.add(buyer);
    const asked = call(process, () => buyer.lock.acquire(signal));
    const end = await endOf(asked, isOnce ? 2 * LEASE_MS : PATIENCE_LEASES * LEASE_MS);
    waiting.delete(buyer);
    if (process.node.isDead()) return;
    if (now() > goneAt + SOON_MS + (family.slowMs ?? 0)) odd.add('acquire() ends late after an abort');
    if (isOnce && !wasFault && now() > buyer.askedAt + TRY_MS + TRY_REPLIES * (family.slowMs ?? 0))
      odd.add('one try waits');
    if (end.how === 'rejected' && !patience.signal.aborted) waits.push(now() - buyer.askedAt);
    if (end.how === 'pending')
      return odd.add(
        isOnce
          ? 'one try does not end'
          : patience.signal.aborted
            ? 'acquire() does not end after an abort'
            : 'never inside',
      );
    if (end.how === 'rejected') {
      if (getEventListeners(signal, 'abort').length > 0) odd.add('listeners stay of who was not inside');
      if (end.code !== 'ABORT_ERR' && end.code !== 'AbortError' && end.code !== '20')
        odd.add(`acquire() rejects: ${end.code}`);
      else if (!signal.aborted) odd.add('acquire() rejects as if aborted');
      await pass(GONE_MS);
      if (waiting.size === 0)
        for (const name of keys())
          if (name !== KEY && !isNumber(name)) odd.add(`a key when nobody waits: ${plainOf(name)}`);
      // As the service does when nobody knows what Redis has.
      if (wasFault && !NEVER_SENT.test(end.message) && !isGivenBack(end)) await releases(buyer, LEASE_MS);
      return;
    }
    enter(buyer, isOnce);
    if (buyer.lock.lost === undefined) odd.add('no signal `lost`');
    const mayWrite = shows(buyer);
    if (!mayWrite && !wasFault) odd.add('a token that is older');
    const read = stock;
    if (luck() < (family.nests ?? 0)) await nest(buyer, ownerToken);
    if (hangs) return;
    await pass(luck() * (family.hold ?? 0.4) * LEASE_MS);
    if (process.node.isDead()) return void inside.delete(buyer);
    const computesMs = luck() < (family.blocks ?? 0) ? 2 * LEASE_MS : 0;
    if (computesMs > 0) wasFault = true;
    // What the process does it does when it runs.
    const isStillHeld = await new Promise<boolean>((resolve) =>
      process.node.take(() => {
        if (computesMs > 0) process.node.block(computesMs);
        const { lost } = buyer.lock;
        resolve(!(lost?.aborted ?? buyer.isTold));
      }),
    );
    if (computesMs > 0) await pass(computesMs);
    if (!buyer.isReader && mayWrite && isStillHeld && shows(buyer)) {
      if (stock !== read && permits === 1) odd.add('a lost update');
      stock = read - 1;
    }
    await leave(buyer, family);
    if (getEventListeners(signal, 'abort').length > 0) odd.add('listeners stay');
  }

  async function leave(buyer: Buyer, family: Family) {
    inside.delete(buyer);
    const { process, isTold, robbedAt = Number.POSITIVE_INFINITY } = buyer;
    if (now() > robbedAt + leaseMs && !isTold) odd.add('not told of a loss within a lease');
    const { lost } = buyer.lock;
    if (lost && lost.aborted !== buyer.isTold) odd.add('`lost` and onLeaseLost differ');
    if (isTold && luck() < (family.abandons ?? 0)) return;
    buyer.isLeaving = true;
    const end = await releases(buyer, 4 * LEASE_MS, family.releasesOnce ? 1 : RELEASES);
    buyer.isLeaving = false;
    if (process.node.isDead()) return;
    if (end.how === 'pending') odd.add('release() does not end');
    // A lease that nobody renews may be over.
    const isOver = !isRenewed && now() > buyer.enteredAt + 0.9 * leaseMs - (family.delayMs ?? 0);
    if (end.how === 'rejected' && !(isOver && end.code === 'LOCK_NOT_HELD')) odd.add(`release() rejects: ${end.code}`);
    // By its own clock the lease may be over a moment before it is.
    if (end.how === 'done' && isTold && (buyer.isSucceeded || buyer.robbedAt !== undefined))
      odd.add('release() resolves after a loss');
    if (end.how === 'done' && inside.size + waiting.size === 0 && keys().includes(KEY))
      odd.add('a key when all have left');
    if (luck() >= (family.strays ?? 0)) return;
    await pass(luck() * 0.2 * LEASE_MS);
    await releasesAstray(buyer, 'a second release()');
  }

  /** It releases what it does not hold. */
  async function releasesAstray({ process, lock }: Buyer, what: string) {
    const end = await endOf(
      call(process, () => lock.release()),
      2 * LEASE_MS,
    );
    if (end.how !== 'rejected') odd.add(`${what} ${end.how}`);
    else if (end.code !== 'LOCK_NOT_HELD') odd.add(`${what} rejects: ${end.code}`);
  }

  /** Releases, and after a fault once more when that failed, as the service does. Resolves with how the first release ended. */
  async function releases({ process, lock }: Buyer, limitMs: number, times = RELEASES): Promise<End> {
    const release = () =>
      endOf(
        call(process, () => lock.release()),
        limitMs,
      );
    const first = await release();
    let end = first;
    for (let tries = 1; tries < times && isUnknown(end) && !process.node.isDead(); tries += 1) {
      await pass(AGAIN_MS);
      end = await release();
    }
    return first;
  }

  async function nest(buyer: Buyer, ownerToken: string) {
    const { process } = buyer;
    const inner = luck() < 0.5 ? buyer : open(process, ownerToken, buyer.isReader);
    await new Promise<void>((resolve) => process.node.take(resolve));
    const end = await endOf(
      call(process, () => inner.lock.acquire()),
      2 * LEASE_MS,
    );
    if (process.node.isDead()) return;
    if (end.how !== 'done') return odd.add('no re-entry');
    await pass(luck() * 0.5 * LEASE_MS);
    const left = await endOf(
      call(process, () => inner.lock.release()),
      2 * LEASE_MS,
    );
    if (left.how !== 'done' && !process.node.isDead()) odd.add('an inner release() fails');
  }

  return {
    visit,
    firstInside,
    hasTokens: () => hasTokens,
    noteFault() {
      wasFault = true;
    },
    /** Who was inside before it began, and for longer than a lease, knows that the lease is over. */
    noteSilence(process: Process, since: number) {
      if (now() < since + leaseMs + SLACK_MS) return;
      for (const buyer of inside)
        if (buyer.process === process && buyer.enteredAt < since && !buyer.isTold)
          odd.add('not told of a loss after a lease of silence');
    },
    noteRobbery() {
      for (const buyer of inside) buyer.robbedAt = now();
    },
    /** One acquires and releases, with a token that shares no part with another. */
    async passThrough(process: Process, length: number) {
      owners += 1;
      const buyer = open(process, Buffer.from(String(owners).padStart(length, '0')).toString('latin1'));
      const entered = await endOf(
        call(process, () => buyer.lock.acquire()),
        LEASE_MS,
      );
      if (entered.how === 'done') await releases(buyer, LEASE_MS);
      else odd.add('a free lock lets nobody in');
    },
    async comesIn(process: Process) {
      await pass(100);
      for (const isOnce of [true, false]) {
        owners += 1;
        const buyer = open(process, `00000000-0000-4000-8000-000000000000:${owners}`);
        const signal = isOnce ? AbortSignal.abort() : undefined;
        const end = await endOf(
          call(process, () => buyer.lock.acquire(signal)),
          3 * LEASE_MS,
        );
        if (end.how !== 'done') odd.add(isOnce ? 'a free lock refuses one try' : 'a free lock lets nobody in');
        else {
          enter(buyer, isOnce);
          inside.delete(buyer);
          const left = await endOf(
            call(process, () => buyer.lock.release()),
            LEASE_MS,
          );
          if (left.how !== 'done') odd.add('the last release() fails');
        }
      }
    },
  };
}

/** From here on some commands come late. */
function makeLate({ pass, luck }: Stage, { lines }: Process, late: number) {
  for (const line of lines) {
    const next = () =>
      line.hold({
        isMeant: () => luck() < 0.3,
        arrive(_command, { letGo }) {
          void pass(luck() * late * LEASE_MS).then(letGo);
          next();
        },
      });
    next();
  }
}
