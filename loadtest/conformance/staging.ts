// A staging: processes that only use the lock, in their own simulation. Nothing else runs in it, and nothing of it remains.

import type { CreateLock } from '../../locks/lock.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import { openLockLab, readLockCode } from '../../simulation/lock-lab.ts';
import type { LockSource } from '../../simulation/lock-service.ts';
import type { ReadCommand } from '../../simulation/proxy.ts';
import type { Identity } from '../../simulation/world.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { Promises } from '../evidence/promises.ts';
import { asClause } from '../narration/numbers.ts';
import { holdOn, isNoStep } from './held.ts';
import { createHolder, type HolderOptions } from './holder.ts';
import { createStory, Fault, lacksIt } from './outcome.ts';
import { createServers } from './servers.ts';

/** The lease for checks in which it ends, in milliseconds. */
export const LEASE_MS = 800;
/** The lease for checks in which it does not end. */
export const LONG_LEASE_MS = 10_000;
/** After how long without a planned event a staging counts as endless, in milliseconds of simulated time. */
const LIMIT_MS = 600_000;
const MASTERS = 5;

/** The lock under test. */
export interface Subject {
  source: LockSource;
  promises: Promises;
  /** Scripts that the servers know from the start. */
  scripts: string[];
  /** Whether it renews. Undefined before that is known. */
  renews?: boolean;
}

export type Staging = Awaited<ReturnType<typeof openStaging>>['staging'];
export type Process = ReturnType<Staging['process']>;

/**
 * Opens a simulation, and runs its clock until `act` has ended. Resolves and rejects as `act` does; with a Fault when the lock kills a
 * process, and with NotStagedError when it asks for what the simulation does not have. One at a time in a process: it
 * listens to the errors that nobody handles.
 */
export async function stageOf<T>(subject: Subject, act: (staging: Staging) => Promise<T>): Promise<T> {
  const { staging, lab } = await openStaging(subject);
  let ended: { result: T } | { error: unknown } | undefined;
  const end = (how: typeof ended) => {
    ended ??= how;
  };
  const die = (error: unknown) =>
    end({ error: new Fault(`A process dies of an unhandled error: ${asClause(String(error))}.`) });
  const goBack = ['unhandledRejection', 'uncaughtException'].map((event) => {
    const others = process.listeners(event as 'uncaughtException');
    process.removeAllListeners(event).on(event, die);
    return () => {
      process.removeAllListeners(event);
      for (const listener of others) process.on(event, listener);
    };
  });
  try {
    act(staging).then(
      (result) => end({ result }),
      (error) => end({ error }),
    );
    const isOver = () => ended !== undefined || lab.schedule.now() > staging.story.lastPlanned() + LIMIT_MS;
    await lab.schedule.until(isOver, Number.MAX_SAFE_INTEGER).catch(die);
    const refused = lab.refusal();
    if (refused !== undefined) throw new NotStagedError(lacksIt(refused));
    if (ended === undefined) throw new NotStagedError('The check did not end.');
    if ('result' in ended) return ended.result;
    if (ended.error instanceof Fault) ended.error.steps = staging.story.steps;
    throw ended.error;
  } finally {
    for (const back of goBack) back();
    lab.close();
  }
}

async function openStaging({ source, promises, scripts, renews }: Subject) {
  const code = await readLockCode(source);
  const lab = await openLockLab(promises.masters ? MASTERS : 0);
  /** How many commands of Redis its replicas have received; undefined when they receive each at once. */
  let received: number | undefined;
  for (let replica = 0; replica < (source.facts.replicas ?? 0); replica += 1)
    lab.redis.addReplica(() => received ?? lab.redis.heard.length);
  const key = lockKey('001', source.name);
  const story = createStory(lab.schedule);
  /** Those that the lock is in. */
  const servers = createServers(promises.masters ? lab.masters : [lab.redis], key, story.say);
  servers.load(scripts);
  const pace = { entryMs: 0 };
  const leaseEnds = new Map<string, number>();
  let processes = 0;
  let owners = 0;

  function openProcess({ permits = 1, identity, ...clock }: OpenProcess = {}) {
    const index = processes++;
    const { node, proxies, exports, clients } = lab.start(code, { clock, ...(identity && { identity }) });
    /** What the lock's commands pass. */
    const lines = promises.masters ? proxies.slice(1) : proxies;
    const seen: { at: number; line: number; command: ReadCommand }[] = [];
    let count = 0;
    for (const [line, proxy] of lines.entries()) {
      proxy.watch((command) => {
        count += 1;
        if (!isNoStep(command)) seen.push({ at: story.now(), line, command });
      });
    }
    const { createLock, createReadLock, default: inside } = exports as LockModule;
    const place = {
      story,
      pace,
      leaseEnds,
      renews,
      clients,
      createLock: createLock ?? (inside?.createLock as CreateLock),
      take: node.take,
    };
    const optionsOf = (leaseMs: number, ofKey: string, others: Partial<HolderOptions>) => ({
      key: ofKey,
      ownerToken: tokenOf(index, ++owners),
      leaseMs,
      permits,
      ...others,
    });

    return {
      /** Every command of the lock that has come, but what is sent for a connection's sake. */
      seen,
      lines,
      holder: (name: string, leaseMs = LONG_LEASE_MS, ofKey = key, others: Partial<HolderOptions> = {}) =>
        createHolder(place, name, optionsOf(leaseMs, ofKey, others)),
      /** It has a read lock. */
      hasReaders: createReadLock !== undefined,
      reader: (name: string, leaseMs = LONG_LEASE_MS) =>
        createHolder({ ...place, createLock: createReadLock as CreateLock }, name, optionsOf(leaseMs, key, {})),
      /** Holds a command on each line: the first from now on that `isMeant`, after `skipped` others. */
      hold: (skipped = 0, isMeant = (command: ReadCommand) => !isNoStep(command)) =>
        holdOn(lines, { story, servers }, skipped, isMeant),
      cut: (how: 'silent' | 'reset' = 'silent') => lines.map((proxy) => proxy.cut(how)),
      restore: () => lines.map((proxy) => proxy.restore()),
      delayReplies: (ms: number) => lines.map((proxy) => proxy.delayReplies(ms)),
      kill: () => node.kill(),
      stop: () => node.stop(),
      resume: () => node.resume(),
      /** Sets its wall clock, forward or back: what measures time goes on. */
      setWallClock: (byMs: number) => node.setWallClock(byMs),
      /** Commands that name the key and came since then. */
      sentSince: (from: number) =>
        seen.filter(({ at, command }) => at >= from && command.args.some((arg) => arg.includes(key))),
      /** How many commands its connections have sent so far, with those for a connection's sake. */
      sentInAll: () => count,
      timers: () => node.world.timers().length,
      /** Of a lock that has our client, which has no sockets, none. */
      connections: node.openSockets,
    };
  }

  const staging = {
    key,
    story,
    servers,
    /** The replicas that the lock waits for. */
    replicas: {
      fallBehind() {
        received = lab.redis.heard.length;
        story.say('replication is cut');
      },
      catchUp() {
        received = undefined;
        story.say('replication resumes');
      },
    },
    process: openProcess,
    /** A in one process and B in another, each with a lease of so many milliseconds. */
    two(leaseMsOfA = LONG_LEASE_MS, leaseMsOfB = leaseMsOfA) {
      const [p, q] = [openProcess(), openProcess()];
      return { p, q, a: p.holder('A', leaseMsOfA), b: q.holder('B', leaseMsOfB) };
    },
  };
  return { staging, lab };
}

/** Options of a process. */
interface OpenProcess {
  aheadMs?: number;
  rate?: number;
  /** How many a semaphore is to let in. With one it is a lock like any other. */
  permits?: number;
  /** What it has in common with others. */
  identity?: Identity;
}

interface LockModule {
  createLock?: CreateLock;
  createReadLock?: CreateLock;
  default?: { createLock?: CreateLock };
}

/** As long as those of the service: made up of the instance and the request. */
function tokenOf(process: number, owner: number) {
  const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return `${uuid(process + 1)}:${uuid(owner)}`;
}

/** What the lock does without contention. */
export interface Survey {
  /** The commands that it sends to enter and to release, in their order. To several masters it sends each of them. */
  acquire: ReadCommand[];
  release: ReadCommand[];
  /** Those that it sends while it holds, when a part of its lease has passed. */
  renewal: ReadCommand[];
  hasLost: boolean;
  /** It renews, so it learns of a loss, and it has taken `onLeaseLost` from its options: it is to call that. */
  callsOnLeaseLost: boolean;
  hasToken: boolean;
  /** No command of it names the key: a clause with a full stop. */
  isElsewhere?: string;
}

export interface LockUnderTest {
  promises: Promises;
  survey: Survey;
  /** Runs a staging in its own simulation. */
  stage<T>(act: (staging: Staging) => Promise<T>): Promise<T>;
}
