// Replays a counterexample on fresh processes, and on Valkeys whose state is never restored.

import { isDeepStrictEqual } from 'node:util';
import { scriptTexts } from '../simulation/scripts.ts';
import { openValkey, type Reply, type Valkey } from '../simulation/valkey.ts';
import type { Command, Pending } from '../simulation/world/commands.ts';
import type { Input } from '../simulation/world.ts';
import type { MovesOptions } from './moves/move.ts';
import { type Live, type ProcessOptions, startProcess } from './process.ts';
import { LEASE_MS } from './sale.ts';
import { stockCommand } from './scopes.ts';
import { nameOf, type Sent, STOCK, type Step, type Unheard } from './state.ts';
import type { Difference } from './wording.ts';
import { nameOfReply } from './words.ts';

export type ReplayOptions = Pick<ProcessOptions, 'openLock'> & Omit<MovesOptions, 'lock' | 'horizonMs'>;

/** Each process has a connection for commands and one that listens. */
const commandsOf = (process: number) => 2 * process + 1;
const messagesOf = (process: number) => 2 * process + 2;
/** The connection of nobody, by which the stock is set. */
const OWN = 0;

interface Replica {
  valkey: Valkey;
  aheadMs: number;
  /** What has reached it, and when. */
  log: { at: number; process: number; sent: Sent }[];
  isCold: boolean;
}

/** Valkeys that no replay uses now. `isTaught`: it knows every script of `lua/`, and no other. */
const idle: { valkey: Valkey; isTaught: boolean }[] = [];

/** A step without its words: it is replayed by what it did. */
type Replayed = Omit<Step, 'what'>;

/** Where a replay diverged: at which step, from 1, and how. */
type WentAnotherWay = { step: number; differs: Difference };

/** Replays the steps of a counterexample. Resolves with where it diverged, or with undefined. */
export async function replay(steps: Replayed[], options: ReplayOptions): Promise<WentAnotherWay | undefined> {
  const used: Replica[] = [];
  try {
    return await replayOn(used, steps, options);
  } finally {
    const processes = Array.from({ length: options.processes }, (_, index) => index);
    for (const { valkey, isCold, log } of used) {
      for (const index of processes)
        for (const connection of [commandsOf(index), messagesOf(index)]) valkey.close(connection);
      idle.push({ valkey, isTaught: !isCold && !log.some(({ sent }) => mayTeach(sent.command)) });
    }
  }
}

async function replayOn(
  used: Replica[],
  steps: Replayed[],
  options: ReplayOptions,
): Promise<WentAnotherWay | undefined> {
  const { scope, processes, masters, isInBuckets } = options;
  const filling = stockCommand(scope, STOCK, isInBuckets);
  const servers: Replica[] = [];
  for (let server = 0; server <= masters; server += 1)
    servers.push(await openReplica(used, scope.isCold ?? false, server === 0 ? filling : undefined));
  const lives: Live[] = Array.from({ length: processes }, (_, index) => {
    const script = { businessMs: 0, ...scope.script?.(index) };
    return startProcess(nameOf(index), { ...options, servers: masters + 1, script });
  });
  const inboxes: Unheard[][] = lives.map(() => []);
  const unread = new Map<string, Reply>();

  for (const [at, step] of steps.entries()) {
    const differs = await follow(step);
    if (differs) return { step: at + 1, differs };
  }
  return undefined;

  async function follow(step: Replayed): Promise<Difference | undefined> {
    const index = step.process.length === 1 ? step.process.charCodeAt(0) - 'A'.charCodeAt(0) : -1;
    const live = lives[index];
    const toldBefore = live?.seen().told.length ?? 0;
    const difference = live ? await followProcess(step, index, live) : await followServer(step);
    if (difference) return difference;
    const told = live?.seen().told.slice(toldBefore) ?? [];
    if (isDeepStrictEqual(told, step.told)) return undefined;
    return { form: 'told otherwise', values: { process: step.process, told } };
  }

  async function followProcess(
    { at, kind, sent, reply, input }: Replayed,
    index: number,
    live: Live,
  ): Promise<Difference | undefined> {
    let given: Input | undefined = input;
    if (sent) {
      const isOnItsWay = ({ id }: Pending) => unread.has(`${index} ${id}`);
      const head = live
        .seen()
        .pending.find((each) => each.line === sent.line && each.server === sent.server && !isOnItsWay(each));
      if (!isDeepStrictEqual(head?.command, sent.command))
        return { form: 'sends otherwise', values: { command: head?.command } };
      if (input?.type === 'reply' && input.id !== head?.id)
        return { form: 'answer to another', values: { id: head?.id } };
      const answer = run(servers[sent.server] as Replica, at, index, sent);
      const replied = nameOfReply(answer);
      if (replied !== reply) return { form: 'replied otherwise', values: { reply: replied, wanted: reply } };
      if (input?.type === 'reply') given = { ...input, reply: answer };
      else unread.set(`${index} ${head?.id}`, answer);
    } else if (input?.type === 'reply') given = { ...input, reply: unread.get(`${index} ${input.id}`) ?? null };
    if (input?.type === 'message') {
      const heard = inboxes[index]?.shift();
      if (heard?.message !== input.message || heard.channel !== input.channel)
        return { form: 'hears otherwise', values: { message: heard?.message } };
    }
    if (kind === 'crash') for (const { valkey } of servers) valkey.close(messagesOf(index));
    if (given) await live.apply(given);
    return undefined;
  }

  async function followServer({ kind }: Replayed): Promise<undefined> {
    if (kind === 'failover') servers[0] = await replicaOf(servers[0] as Replica);
    if (kind === 'restart empty') servers[1] = await openReplica(used, true);
    if (kind === 'clock jump') (servers[1] as Replica).aheadMs = LEASE_MS + 1;
  }

  function run({ valkey, aheadMs, log }: Replica, at: number, process: number, sent: Sent): Reply {
    log.push({ at, process, sent });
    valkey.setTime(at + aheadMs);
    const connection = sent.line === 'commands' ? commandsOf(process) : messagesOf(process);
    const { reply, messages } = valkey.run(connection, sent.command);
    for (const { to, message } of messages) {
      const [, channel, text] = message as string[];
      inboxes[to / 2 - 1]?.push({ channel: String(channel), message: String(text) });
    }
    return reply;
  }

  /** A server that has received everything but the last command that changed something. */
  async function replicaOf({ log, isCold }: Replica): Promise<Replica> {
    const late = await openReplica(used, isCold, filling);
    const last = log.findLastIndex(({ sent }) => sent.hasChanged);
    for (const { at, process, sent } of log.slice(0, last)) run(late, at, process, sent);
    return late;
  }
}

/** May the server know one script more after this command? */
const mayTeach = ([name]: Command) => /^(EVAL|EVAL_RO|SCRIPT)$/i.test(String(name));

/** A server without a key, as if it had just been started, but for what the command that is given puts there. */
async function openReplica(used: Replica[], isCold: boolean, filling?: Command): Promise<Replica> {
  const { valkey, isTaught } = idle.pop() ?? { valkey: await openValkey(), isTaught: false };
  const replica: Replica = { valkey, aheadMs: 0, log: [], isCold };
  used.push(replica);
  valkey.setTime(0);
  valkey.pipeline(OWN, [['FLUSHALL']]);
  // Compiling the scripts takes longer than all the rest.
  if (isCold || !isTaught) {
    const load = isCold ? [] : scriptTexts.map((text) => ['SCRIPT', 'LOAD', text]);
    valkey.pipeline(OWN, [['SCRIPT', 'FLUSH'], ...load]);
  }
  if (filling) valkey.pipeline(OWN, [filling]);
  return replica;
}
