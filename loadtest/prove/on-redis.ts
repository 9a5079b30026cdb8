// A counterexample of the search, replayed on a real Redis with real processes: each of their commands waits in a link until it
// is its turn.

import { dirname, relative, resolve } from 'node:path';
import type { Cell } from '../../prove/cell.ts';
import type { Told } from '../../prove/process.ts';
import { STOCK_KEY } from '../../prove/sale.ts';
import { type Scope, scopes } from '../../prove/scopes.ts';
import { openServer, type Server } from '../../prove/server.ts';
import { STOCK, type Step } from '../../prove/state.ts';
import { dismissReaper, projectDir } from '../../scripts/stack/parts.ts';
import { isAlike, isSameReply } from './alike.ts';
import { createNews } from './news.ts';
import { NoReplicaError, openRealServer, type RealServer } from './real-server.ts';
import { type Seller, startSeller } from './seller-process.ts';

export interface OnRedis {
  /** Such as `Redis 7.0.15`; `no server` when none was started. */
  server: string;
  /** How often it went the same way as in the search. */
  times: number;
  /** Where it went another way, or why it can't be replayed, as a sentence. */
  differs?: string;
}

export interface OnRedisOptions {
  /** How often it is replayed, each time on a server of its own. */
  times?: number;
  /** Ends the replay, and all that it has started. */
  signal?: AbortSignal | undefined;
}

/** How long a process may take for what it does next, in milliseconds. */
const LIMIT_MS = 5_000;
/** A step that comes later than this, in milliseconds, may meet a lease that is over or a timer that has fired. */
const LATE_MS = 150;
/** How often it is tried on a machine that was too busy for its times. */
const TRIES = 3;

/** It went another way than in the search. */
class Difference extends Error {}

/**
 * Replays the counterexample of a cell, whose lock is in this file. The steps happen in their order: a command when its
 * process has sent it, everything else when what came before has had its effect; the times are kept as real times. Every reply is
 * compared, what each process tells, and what is left in Redis at the end. Rejects when a process or a server can't be started, and
 * when `signal` aborts.
 */
export async function replayOnRedis(cell: Cell, file: string, options: OnRedisOptions = {}): Promise<OnRedis> {
  const { times = 1, signal } = options;
  const why = whyNot(cell);
  if (why) return cannot('no server', why);
  const search = await openServer();
  let server = 'no server';
  for (let time = 1; time <= times; time += 1) {
    for (let tries = 1; ; tries += 1) {
      const replayed = await replayOnce(cell, file, search, signal);
      if (replayed instanceof NoReplicaError) return cannot(replayed.server, replayed.message);
      server = replayed.server;
      if (replayed.differs === undefined) break;
      const isLate = replayed.lateMs > LATE_MS;
      if (isLate && tries < TRIES) continue;
      const late = isLate ? ` The machine was busy: a step came ${Math.round(replayed.lateMs)} ms late.` : '';
      return { server, times: time - 1, differs: replayed.differs + late };
    }
  }
  return { server, times };
}

const cannot = (server: string, why: string): OnRedis => ({
  server,
  times: 0,
  differs: `It cannot be replayed on a real server: ${why}.`,
});

/** Why no replay could show the same. */
function whyNot({ counterexample, masters, reason }: Cell): string | undefined {
  if (counterexample === undefined) return 'there is no counterexample';
  if (masters > 0) return 'its lock asks several servers';
  if (/^All is over.* a timer of /.test(reason)) return 'a process does not show its timers';
  if (counterexample.some(({ command }) => command.includes('Math.random() is'))) return 'its lock throws dice';
  return undefined;
}

interface Replayed {
  server: string;
  /** How late the latest step came, in milliseconds. */
  lateMs: number;
  differs?: string;
}

async function replayOnce(
  cell: Cell,
  file: string,
  search: Server,
  signal?: AbortSignal,
): Promise<Replayed | NoReplicaError> {
  const { counterexample: steps = [], processes, sales } = cell;
  const scope = scopes.find(({ name }) => name === cell.scope) as Scope;
  const news = createNews(signal);
  const sellers: Seller[] = [];
  let real: RealServer | undefined;
  try {
    const hasReplica = steps.some(({ kind }) => kind === 'failover');
    const server = await openRealServer({ news, isCold: scope.isCold ?? false, hasReplica });
    real = server;
    const starts = Array.from({ length: processes }, async (_, index) => {
      const script = { businessMs: 0, ...scope.script?.(index) };
      sellers[index] = await startSeller({ index, lock: lockIn(file), sales, script, redisUrl: server.url(), news });
    });
    for (const start of await Promise.allSettled(starts)) if (start.status === 'rejected') throw start.reason;
    return { server: server.name, ...(await follow(cell, { scope, search, server, sellers, news })) };
  } catch (error) {
    if (error instanceof NoReplicaError) return error;
    throw error;
  } finally {
    await Promise.all(sellers.map((seller) => seller?.stop()));
    await real?.close();
    news.close();
    await dismissReaper();
  }
}

/** A lock of the course is part of the bundle that a process runs. */
function lockIn(file: string) {
  const path = relative(resolve(projectDir, 'locks'), resolve(file));
  const isOfCourse = ['.', 'beyond'].includes(dirname(path));
  return isOfCourse ? { name: path.replace(/^beyond.|\.ts$/g, '') } : { file: resolve(file) };
}

interface Stage {
  scope: Scope;
  /** The server of the search: it says what the real one must hold. */
  search: Server;
  server: RealServer;
  sellers: Seller[];
  news: ReturnType<typeof createNews>;
}

/** Follows the steps. Resolves with where it went another way, if it did. */
async function follow(cell: Cell, { scope, search, server, sellers, news }: Stage): Promise<Omit<Replayed, 'server'>> {
  const { counterexample: steps = [], reason } = cell;
  const failsOver = steps.findIndex(({ kind }) => kind === 'failover');
  /** The command that the replica does not hear of. */
  const unheard = steps.slice(0, Math.max(0, failsOver)).findLastIndex(({ sent }) => sent?.hasChanged);
  /** What the server of the search holds, and its replica. */
  let state = search.execute(scope.isCold ? search.cold : search.empty, 0, 0, ['SET', STOCK_KEY, STOCK]).after;
  let replica = state;
  /** How much each process must have told. */
  const told = sellers.map(() => 0);
  /** Replies that are a step of their own and have not been read, as the search has them. */
  const unread: { seller: Seller; line: 'commands' | 'messages'; verb: string; reply: string; read: Read }[] = [];
  let beganAt: number | undefined;
  let lateMs = 0;
  let now: string | undefined;
  try {
    for (const [index, step] of steps.entries()) {
      now = `Step ${index + 1}`;
      if (beganAt !== undefined && step.kind !== 'clock')
        lateMs = Math.max(lateMs, performance.now() - beganAt - step.at);
      await take(step, index);
    }
    now = 'The end';
    await compareEnds();
    return { lateMs };
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    return { lateMs, differs: `${now}: ${error.message}.` };
  }

  async function take(step: Step, index: number) {
    const seller = sellers.find(({ name }) => name === step.process);
    if (seller) await takeProcess(step, index, seller);
    else if (step.kind === 'clock') await passTime(step.at);
    else await failOver();
    for (const each of sellers) if (each === seller || !seller) await untilItWaits(each, index);
  }

  async function takeProcess(step: Step, index: number, seller: Seller) {
    const { kind, sent } = step;
    if (kind === 'begins') {
      beganAt ??= performance.now();
      seller.begin();
    } else if (sent) await letGo(step, index, seller);
    else if (kind === 'reply') await readReply(step, seller);
    else if (kind === 'message') await hear(step, seller);
    else if (kind === 'hang up') seller.hangUp();
    else if (kind === 'pause') seller.pause();
    else if (kind === 'wake') seller.wake();
    else if (kind === 'crash') {
      await seller.kill();
      await server.settle();
      state = search.without(state, seller.index);
    }
    // A command that is held up stays in the link, as all do; a timer fires by itself.
    await untilTold(step, seller);
  }

  async function letGo({ at, sent, reply = '', input }: Step, index: number, seller: Seller) {
    if (sent === undefined) return;
    const { line, command } = sent;
    await untilSent(index, seller);
    if (!seller.hasSent(line, command)) return;
    if (index === unheard) {
      replica = state;
      await server.cutReplication();
    }
    const { after, messages } = search.execute(state, at, seller.index, command);
    state = after;
    // Who is not to hear it yet hears nothing until then.
    for (const { to } of messages) sellers[to]?.holdReplies('messages');
    const isOneStep = input?.type === 'reply';
    if (!isOneStep) seller.holdReplies(line);
    const read = seller.letGo(line, command);
    const expected = { seller, line, verb: String(command[0]), reply, read };
    if (isOneStep) return compareReply(expected);
    unread.push(expected);
    await server.settle();
  }

  async function readReply(step: Step, seller: Seller) {
    const isIt = (one: (typeof unread)[number]) =>
      one.seller === seller && step.command.startsWith(`reads the reply ${one.reply}`);
    const expected = unread.splice(unread.findIndex(isIt), 1)[0];
    if (expected === undefined) throw new Difference('there is no such reply');
    seller.passReplies(expected.line);
    await compareReply(expected);
  }

  async function compareReply({ seller, verb, reply, read }: (typeof unread)[number]) {
    const real = await news.until(read, LIMIT_MS);
    if (real === undefined) throw new Difference(`no reply has come to ${seller.name}, instead of ${reply}`);
    if (!isSameReply(verb, real, reply)) throw new Difference(`the reply is ${real} instead of ${reply}`);
  }

  async function hear({ input }: Step, seller: Seller) {
    if (input?.type !== 'message') return;
    seller.passReplies('messages');
    const message = await news.until(() => seller.heard.shift(), LIMIT_MS);
    if (message?.message !== input.message)
      throw new Difference(`${seller.name} hears ${message?.message ?? 'nothing'} instead of ${input.message}`);
  }

  async function untilTold(step: Step, seller: Seller) {
    for (const expected of step.told) {
      const place = told[seller.index] ?? 0;
      told[seller.index] = place + 1;
      const real = await news.until(() => seller.told[place], LIMIT_MS);
      const isSame = real?.sale === expected.sale && real.step === expected.step && real.stock === expected.stock;
      if (!isSame) throw new Difference(`${seller.name} ${inWords(real)} instead of: ${inWords(expected)}`);
    }
  }

  /** What the process sends next because of what has happened is in the link. */
  async function untilItWaits(seller: Seller, index: number) {
    if (seller.status() !== 'runs') return;
    const isItsNext = ({ process, sent, input }: Step, at: number) =>
      at > index && process === seller.name && (sent || input);
    const next = steps.findIndex(isItsNext);
    if (steps[next]?.sent) await untilSent(next, seller);
  }

  /** The command of this step is in the link, or is left out. */
  async function untilSent(index: number, seller: Seller) {
    const { sent } = steps[index] as Step;
    if (sent === undefined) return;
    const isThere = () => seller.hasSent(sent.line, sent.command) || isLeftOut(index, seller) || undefined;
    if (await news.until(isThere, LIMIT_MS)) return;
    throw new Difference(
      `${seller.name} sends ${seller.held(sent.line)[0] ?? 'nothing'} instead of ${sent.command.join(' ')}`,
    );
  }

  /**
   * Two timers that are due in the same millisecond of the search are not on a real clock, and the first may clear the
   * second. So a command that came to nothing may be left out: the process has sent what it sends after it.
   */
  function isLeftOut(index: number, seller: Seller): boolean {
    const { sent, told } = steps[index] as Step;
    if (sent === undefined || sent.hasChanged || told.length > 0) return false;
    const after = steps
      .slice(index + 1)
      .find(
        (step) =>
          step.process === seller.name &&
          step.sent?.line === sent.line &&
          step.sent.command.join(' ') !== sent.command.join(' '),
      );
    return after?.sent !== undefined && seller.hasSent(sent.line, after.sent.command);
  }

  async function passTime(at: number) {
    await news.until(() => undefined, (beganAt ?? 0) + at - performance.now());
    // A lease began a little later than in the search: Redis says when it is over.
    const isOver = ([, end]: [string, number]) => end < at;
    await server.untilGone([...search.ends(state)].filter(isOver).map(([key]) => key));
  }

  async function failOver() {
    await server.failOver();
    state = replica;
    for (const seller of sellers) if (seller.status() !== 'has ended') seller.moveTo(server.url());
  }

  async function compareEnds() {
    const at = steps.at(-1)?.at ?? 0;
    const [, dies] = /^([A-Z]) ends by an error that nobody catches/.exec(reason) ?? [];
    const crashed = steps.filter(({ kind }) => kind === 'crash').map(({ process }) => process);
    for (const seller of sellers) {
      if (seller.name === dies) await news.until(() => seller.status() === 'has ended' || undefined, LIMIT_MS);
      const mustHaveEnded = seller.name === dies || crashed.includes(seller.name);
      const hasEnded = seller.status() === 'has ended';
      if (hasEnded !== mustHaveEnded)
        throw new Difference(`${seller.name} ${hasEnded ? 'has ended' : 'has not ended'}`);
      const more = seller.told[told[seller.index] ?? 0];
      if (more) throw new Difference(`${seller.name} goes on: it ${inWords(more)}`);
    }
    const stock = search.execute(state, at, 0, ['GET', STOCK_KEY]).reply;
    const realStock = await server.stock();
    if (realStock !== stock) throw new Difference(`the stock is ${realStock} instead of ${stock}`);
    const isOver = (name: string) => (search.ends(state).get(name) ?? at) < at;
    const left = [...new Set(search.whatIsLeft(state))].filter((name) => !isOver(name)).sort();
    const realLeft = (await server.whatIsLeft()).sort();
    if (!isAlike(realLeft, left))
      throw new Difference(`Redis holds ${realLeft.join(', ')} instead of ${left.join(', ')}`);
  }
}

type Read = () => string | undefined;

/** What a process told, in words; it is different when any of them is. */
function inWords(told?: Omit<Told, 'at'>): string {
  if (told === undefined) return 'tells nothing';
  const { step, stock, why } = told;
  return `tells "${[step, stock, why].filter((part) => part !== undefined).join(' ')}"`;
}
