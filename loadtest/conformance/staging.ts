// One staging: processes with the lock alone, in a virtual world of its own. Nothing else runs in it, and nothing of it is left.

import { getEventListeners, setMaxListeners } from 'node:events';
import type { CreateLock, Lock } from '../../locks/lock.ts';
import { redisOptions } from '../../services/inventory/redis-client.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { isOnSockets, type LockSource, openLockFile } from '../../virtual/lock-service.ts';
import { createLuck } from '../../virtual/luck.ts';
import { startNode, type VirtualNode } from '../../virtual/node.ts';
import { createProxy, type ReadCommand } from '../../virtual/proxy.ts';
import { createSchedule } from '../../virtual/schedule.ts';
import { OUTSIDE, openServer, type VirtualServer } from '../../virtual/server.ts';
import type { Reply } from '../../virtual/valkey.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { Promises } from '../evidence/promises.ts';
import { formatSeconds } from '../narration/numbers.ts';
import { type End, Fault, lacksIt, saidOf } from './outcome.ts';

/** A lease that ends while a check waits, in milliseconds. */
export const LEASE_MS = 800;
/** A lease that does not end while a check looks. */
export const LONG_LEASE_MS = 10_000;
/** How long a step may take that has nothing to wait for, in milliseconds. */
export const STEP_LIMIT_MS = 3_000;
/** How long one waits to see that it is kept out, and what a lock takes that asks slowly, as a factor: so long it takes to enter. */
const PROBE_MS = 150;
const SLOW_ENTRIES = 3;
const RETRY_DELAY_MS = 20;
/** A staging that comes to no end by then never does, in milliseconds of the virtual clock. */
const LIMIT_MS = 600_000;
const MASTERS = 5;

/** By then a process has connected again, in milliseconds. */
const BACK_MS = 2 * redisOptions.retryStrategy();
/** With 1 a server answers each write with an error. */
const REFUSES_WRITES = ['CONFIG', 'SET', 'min-replicas-to-write'] as const;
/** How a command fails. */
export const failures = ['command', 'reply', 'error'] as const;
export type Failure = (typeof failures)[number];

/** The lock that is looked at. */
export interface Subject {
  source: LockSource;
  promises: Promises;
  /** Scripts that the servers know from the start. */
  scripts: string[];
}

export type Staging = Awaited<ReturnType<typeof openStaging>>['staging'];
export type Process = ReturnType<Staging['process']>;
export type Holder = ReturnType<Process['holder']>;
export type Keys = Record<string, string>;

/** True for a command that a client sends for its connection's sake, or to hear messages: it takes no step of a lock. */
export const isNoStep = ({ name }: ReadCommand) =>
  /^(HELLO|AUTH|SELECT|CLIENT|INFO|PING|QUIT|COMMAND|SCRIPT|[PS]?(UN)?SUBSCRIBE)$/.test(name);

/**
 * Opens a world, and lets its clock go on until `act` has ended. Resolves and rejects as that does; with a Fault when the lock ends a
 * process, and with NotStagedError when it asks for what the virtual world does not have. One at a time in a process: it
 * listens to the errors that nobody handles.
 */
export async function stageOf<T>(subject: Subject, act: (staging: Staging) => Promise<T>): Promise<T> {
  const { staging, schedule, refusal, close } = await openStaging(subject);
  let ended: { result: T } | { error: unknown } | undefined;
  const end = (how: typeof ended) => {
    ended ??= how;
  };
  const die = (error: unknown) =>
    end({ error: new Fault(`A process ends by an error that no code handles: ${String(error)}.`) });
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
    await schedule.until(() => ended !== undefined, LIMIT_MS).catch(die);
    const refused = refusal();
    if (refused !== undefined) throw new NotStagedError(lacksIt(refused));
    if (ended === undefined) throw new NotStagedError('The check came to no end.');
    if ('result' in ended) return ended.result;
    if (ended.error instanceof Fault) ended.error.steps = staging.steps;
    throw ended.error;
  } finally {
    for (const back of goBack) back();
    close();
  }
}

async function openStaging({ source, promises, scripts }: Subject) {
  const open = await openLockFile(source);
  const onSockets = isOnSockets(source);
  const schedule = createSchedule();
  const luck = createLuck();
  const redis = await openServer(schedule);
  const masters: VirtualServer[] = [];
  while (promises.masters && masters.length < MASTERS) masters.push(await openServer(schedule));
  const servers = [redis, ...masters];
  /** Those that the lock is in. */
  const voting = promises.masters ? masters : servers;
  for (const server of voting)
    server.executeAll(
      OUTSIDE,
      scripts.map((text) => ['SCRIPT', 'LOAD', text]),
    );
  const nodes: VirtualNode<CreateLock>[] = [];
  const key = lockKey('001', source.name);
  const steps: string[] = [];
  let owners = 0;
  /** How long it took to enter a free lock, in milliseconds. */
  let entryMs = 0;

  const say = (sentence: string) => void steps.push(`${formatSeconds(schedule.now())} ${sentence}`);
  const pass = (ms: number) => new Promise<void>((resolve) => schedule.after(ms, resolve));
  const ask = (server: VirtualServer, ...command: (string | number)[]) => server.execute(OUTSIDE, command);
  const namesIn = (server: VirtualServer) => (ask(server, 'KEYS', '*') as string[]).toSorted();

  /** How a call ends within so many milliseconds. */
  function endOf(call: Promise<unknown>, limitMs: number): Promise<End> {
    const startedAt = schedule.now();
    const ms = () => schedule.now() - startedAt;
    return new Promise((resolve) => {
      call.then(
        () => resolve({ how: 'done', ms: ms() }),
        (error) => resolve({ how: 'rejected', ms: ms(), error }),
      );
      schedule.after(limitMs, () => resolve({ how: 'pending' }));
    });
  }

  /** How a call ends within so many milliseconds: said as what it is. */
  async function ends(what: string, call: Promise<unknown>, limitMs = STEP_LIMIT_MS): Promise<End> {
    const end = await endOf(call, limitMs);
    say(`${what} ${saidOf(end)}`);
    return end;
  }

  function openProcess(clock: { aheadMs?: number; rate?: number } = {}) {
    const index = nodes.length;
    const proxies = servers.map(createProxy);
    /** What the lock's commands pass. */
    const lines = promises.masters ? proxies.slice(1) : proxies;
    const seen: { at: number; line: number; command: ReadCommand }[] = [];
    for (const [line, proxy] of lines.entries()) {
      proxy.watch((command) => {
        if (!isNoStep(command)) seen.push({ at: schedule.now(), line, command });
      });
    }
    let options: object = {};
    const node = startNode<CreateLock>({
      name: `node-${index + 1}`,
      index,
      starts: 1,
      clock,
      answerLimitMs: Number.POSITIVE_INFINITY,
      schedule,
      proxies,
      luck,
      isOnSockets: onSockets,
      start(place) {
        const { service, lacking } = open(place);
        const [first, ...others] = servers.map((_, server) => service.clientOf(server));
        options = { redis: first, masters: others };
        const { createLock, default: inside } = service.exports as LockModule;
        return { service: createLock ?? (inside?.createLock as CreateLock), ...(lacking && { lacking }) };
      },
      tell() {},
    });
    nodes.push(node);
    schedule.join(node.actor);

    /** Has the process do something. It settles as that does, and never when the process is dead. */
    function call(act: () => Promise<unknown>): Promise<void> {
      const called = new Promise<void>((resolve, reject) => node.take(() => void act().then(() => resolve(), reject)));
      called.catch(() => {});
      return called;
    }

    function holder(name: string, leaseMs = LONG_LEASE_MS, ofKey = key, ownerToken = tokenOf(index, ++owners)) {
      let lock: Lock | undefined;
      let patience = new AbortController();
      const signals: AbortSignal[] = [];
      const losses: number[] = [];
      let lostAt: number | undefined;
      const lose = () => {
        lostAt ??= schedule.now();
      };
      const made = call(async () => {
        const onLeaseLost = () => losses.push(schedule.now());
        lock = node.service({
          ...options,
          key: ofKey,
          ownerToken,
          leaseMs,
          retryDelayMs: RETRY_DELAY_MS,
          onLeaseLost,
        } as never);
      });
      const own = async () => {
        await made;
        return lock as Lock;
      };

      const self = {
        name,
        ownerToken,
        process: here,
        /** `once`: with a signal that is aborted from the start. */
        acquire(how: 'waits' | 'once' = 'waits') {
          patience = new AbortController();
          const signal = how === 'once' ? AbortSignal.abort() : patience.signal;
          setMaxListeners(0, signal);
          signals.push(signal);
          return call(async () => {
            const { acquire } = await own();
            await acquire.call(lock, signal);
            const { lost } = await own();
            if (lost?.aborted) lose();
            else lost?.addEventListener('abort', lose, { once: true });
          });
        },
        /** Its client goes. */
        abort: () => node.take(() => patience.abort(new Error('The client has gone.'))),
        release: () => call(async () => (await own()).release()),
        /** Enters, and says so. Rejects with NotStagedError when it does not. */
        async enters(limitMs = STEP_LIMIT_MS) {
          const end = await endOf(self.acquire(), limitMs);
          if (end.how !== 'done') throw new NotStagedError(`${name} did not enter: acquire() ${saidOf(end)}.`);
          entryMs = Math.max(entryMs, end.ms);
          say(`${name} enters`);
        },
        /** Releases, and says how that ended. */
        async leaves(): Promise<End> {
          const end = await endOf(self.release(), STEP_LIMIT_MS);
          say(`${name} releases${end.how === 'done' ? '' : `: release() ${saidOf(end)}`}`);
          return end;
        },
        /** True when it asks for the lock for a while and is kept out; if it got in it has given the lock back. */
        async isKeptOut(): Promise<boolean> {
          const asked = self.acquire();
          const end = await endOf(asked, PROBE_MS + SLOW_ENTRIES * entryMs);
          if (end.how !== 'done') {
            self.abort();
            // Who has entered meanwhile was late, and is let out again.
            void asked.then(self.release).catch(() => {});
          } else await endOf(self.release(), STEP_LIMIT_MS);
          say(end.how === 'done' ? `${name} enters` : `${name} asks, and is kept out`);
          return end.how !== 'done';
        },
        /** Is inside within so many milliseconds. Rejects with a Fault when it is not: `when` it asked. */
        async mustEnter(when: string, limitMs = STEP_LIMIT_MS, asked: Promise<void> = self.acquire()): Promise<void> {
          const end = await ends(`acquire() of ${name}`, asked, limitMs);
          if (end.how !== 'done') throw new Fault(`${when} acquire() of ${name} ${saidOf(end)}.`);
        },
        /** Releases. Rejects with a Fault when that fails: `when` it released. */
        async mustLeave(when: string): Promise<void> {
          const end = await self.leaves();
          if (end.how !== 'done') throw new Fault(`${when} release() of ${name} ${saidOf(end)}.`);
        },
        /** Asks for a while. Rejects with this Fault when it gets in. */
        async mustStayOut(fault: string): Promise<void> {
          if (!(await self.isKeptOut())) throw new Fault(fault);
        },
        hasLost: () => lock?.lost !== undefined,
        isLost: () => lock?.lost?.aborted === true,
        lostAt: () => lostAt,
        /** When it called `onLeaseLost`. */
        losses,
        token: () => (lock?.fencingToken === undefined ? undefined : BigInt(lock.fencingToken)),
        /** Listeners that are left on the signals of its acquisitions. */
        listeners: () => signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0),
      };
      return self;
    }

    const isMeantByAll = (command: ReadCommand) => !isNoStep(command);

    const here = {
      /** Every command of the lock that has come, but what is sent for a connection's sake. */
      seen,
      lines,
      holder,
      /** Holds a command on each line: the first from now on that `isMeant`, after `skipped` others. */
      hold(skipped = 0, isMeant: (command: ReadCommand) => boolean = isMeantByAll) {
        const places: { letGo(): boolean; drop(): void }[] = [];
        let arrive: (command: ReadCommand) => void = () => {};
        const arrived = new Promise<ReadCommand>((resolve) => {
          arrive = resolve;
        });
        const forgets = lines.map((proxy) => {
          let left = skipped;
          return proxy.hold({
            isMeant: (command) => isMeant(command) && left-- <= 0,
            arrive(command, place) {
              if (places.push(place) === lines.length) arrive(command);
            },
          });
        });
        const forget = () => {
          for (const each of forgets) each();
        };
        const self = {
          /** Resolves with the command when it waits on each line; undefined when it does not come in time. */
          async comes(limitMs = STEP_LIMIT_MS): Promise<ReadCommand | undefined> {
            const end = await endOf(arrived, limitMs);
            if (end.how === 'done') return arrived;
            forget();
            for (const place of places) place.letGo();
          },
          /** As `comes`. Rejects with NotStagedError when it does not. */
          async mustCome(limitMs = STEP_LIMIT_MS): Promise<ReadCommand> {
            const command = await self.comes(limitMs);
            if (command === undefined) throw new NotStagedError(`Command ${skipped + 1} did not come.`);
            return command;
          },
          /** As `mustCome`: says `when` it came. Resolves with its name. */
          async waits(when: string, limitMs = STEP_LIMIT_MS): Promise<string> {
            const { name } = await self.mustCome(limitMs);
            say(`${when}, and its ${name} is held on its way`);
            return name;
          },
          letGo() {
            for (const place of places) place.letGo();
          },
          drop() {
            forget();
            for (const place of places) place.drop();
          },
          /** The command fails, and Redis is back at once. Resolves, when the process has connected again, with what failed: a clause. */
          async fail(how: Failure, ofWhat: string): Promise<string> {
            const { name } = await self.mustCome();
            forget();
            for (const server of how === 'error' ? voting : []) ask(server, ...REFUSES_WRITES, 1);
            if (how !== 'command') for (const place of places) place.letGo();
            for (const server of how === 'error' ? voting : []) ask(server, ...REFUSES_WRITES, 0);
            if (how !== 'error') here.cut('reset');
            await pass(1);
            here.restore();
            await pass(BACK_MS);
            const said = {
              command: `the ${name} of ${ofWhat} never arrived`,
              reply: `the reply to the ${name} of ${ofWhat} was lost`,
              error: `the ${name} of ${ofWhat} was answered by an error`,
            }[how];
            say(`${said}, and Redis is back`);
            return said.replace(/^t/, 'T');
          },
        };
        return self;
      },
      cut: (how: 'silent' | 'reset' = 'silent') => lines.map((proxy) => proxy.cut(how)),
      restore: () => lines.map((proxy) => proxy.restore()),
      delayReplies: (ms: number) => lines.map((proxy) => proxy.delayReplies(ms)),
      kill: () => node.kill(),
      /** Commands that name the key and came since then. */
      sentSince: (from: number) =>
        seen.filter(({ at, command }) => at >= from && command.args.some((arg) => arg.includes(key))),
      timers: () => node.world.timers().length,
      /** Of a lock that has our client, which has no sockets, none. */
      connections: node.openSockets,
    };
    return here;
  }

  /** What all keys hold, by their names. */
  function contents(): Keys {
    const all = voting.flatMap((server, at) =>
      namesIn(server).map((name) => [`${at} ${name}`, String(ask(server, 'DUMP', name))]),
    );
    return Object.fromEntries(all);
  }

  const staging = {
    key,
    /** What happened, with the time since it began: the witnesses of what comes of it. */
    steps,
    say,
    now: schedule.now,
    pass,
    endOf,
    ends,
    process: openProcess,
    /** A in one process and B in another, each with a lease of so many milliseconds. */
    two(leaseMsOfA = LONG_LEASE_MS, leaseMsOfB = leaseMsOfA) {
      const [p, q] = [openProcess(), openProcess()];
      return { p, q, a: p.holder('A', leaseMsOfA), b: q.holder('B', leaseMsOfB) };
    },
    servers: voting,
    /** Deletes the key in every server, as if the lease were over. Returns false when there is none. */
    endLease(): boolean {
      const isDeleted = voting.map((server) => {
        if (ask(server, 'DEL', key) !== 0) return true;
        // For a lock that keeps its lease in another key.
        const leased = namesIn(server).filter((name) => Number(ask(server, 'PTTL', name)) >= 0);
        return leased.length > 0 && ask(server, 'DEL', ...leased) !== 0;
      });
      if (isDeleted.includes(true)) say('the lab deletes the key, as when its lease ends');
      return isDeleted.includes(true);
    },
    /** The keys that a command reads or writes, as Redis sees them. */
    keysOf({ name, args }: ReadCommand): string[] {
      const found: Reply = ask(redis, 'COMMAND', 'GETKEYS', name, ...args);
      return Array.isArray(found) ? found.map(String) : [];
    },
    contents,
    /** What all keys take in the memory of the servers, in bytes. */
    keyBytes: () =>
      voting
        .flatMap((server) => namesIn(server).map((name) => Number(ask(server, 'MEMORY', 'USAGE', name, 'SAMPLES', 0))))
        .reduce((sum, bytes) => sum + bytes, 0),
    /** The servers forget their scripts, or everything. */
    flush(what: 'SCRIPT' | 'ALL') {
      for (const server of voting) {
        if (what === 'ALL') ask(server, 'FLUSHALL');
        ask(server, 'SCRIPT', 'FLUSH');
      }
      say(what === 'ALL' ? 'Redis has started again, empty' : 'Redis has forgotten its scripts');
    },
    /** How many subscriptions there are. */
    subscriptions: () => voting.flatMap((server) => ask(server, 'PUBSUB', 'CHANNELS')).length,
    /** What is left of the lease, in milliseconds: -1 when it has no end, -2 when there is no key. */
    leaseLeftMs(): number {
      const left = voting.map((server) => Number(ask(server, 'PTTL', key)));
      if (Math.max(...left) !== -2) return Math.max(...left);
      // In another key: the longest lease there is.
      const others = voting.flatMap((server) => namesIn(server).map((name) => Number(ask(server, 'PTTL', name))));
      return Math.max(-2, ...others.filter((ms) => ms >= 0));
    },
    /** What the servers were asked to run as scripts. */
    scriptsRun: () =>
      voting.flatMap(({ heard }) =>
        heard.flatMap(({ command: [name, first, text] }) => {
          if (/^EVAL(_RO)?$/.test(String(name))) return [String(first)];
          return name === 'SCRIPT' && /^load$/i.test(String(first)) ? [String(text)] : [];
        }),
      ),
  };

  return {
    staging,
    schedule,
    refusal: () => nodes.map(({ lacking }) => lacking()).find((what) => what !== undefined),
    close() {
      for (const server of servers) server.close();
    },
  };
}

interface LockModule {
  createLock?: CreateLock;
  default?: { createLock?: CreateLock };
}

/** As long as those of the service: made up of the instance and the request. */
function tokenOf(process: number, owner: number) {
  const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return `${uuid(process + 1)}:${uuid(owner)}`;
}
