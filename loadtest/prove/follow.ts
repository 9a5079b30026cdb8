// The steps of a counterexample, followed on a real server.
//
// They happen in their order. A command reaches Redis when its step comes: until then its link holds it. A step ends when it has
// had its effect: the reply has passed back and is that of the search, the process has told what it told there, and what it
// sends next is in the link. Timers are real: a step never comes before its time, and a lease is over when Redis says so.
//
// A real process may send a command that is not among the steps, or leave one out, because its timers fire when they are
// due and the search may let one wait. One more goes to Redis when its turn comes on its line; one that came to nothing may be
// missing. Either way the rest must be as in the search.

import type { Cell } from '../../prove/cell.ts';
import type { Told } from '../../prove/process.ts';
import { keysOf } from '../../prove/sale.ts';
import { type Scope, skusOf, stockCommand } from '../../prove/scopes.ts';
import type { Server } from '../../prove/server.ts';
import { STOCK, type Step } from '../../prove/state.ts';
import type { Line } from '../../virtual/world.ts';
import { isAlike, isSameReply } from './alike.ts';
import type { News } from './news.ts';
import type { RealServer } from './real-server.ts';
import type { Seller } from './seller-process.ts';

export interface Followed {
  /** How late the latest step came, in milliseconds. */
  lateMs: number;
  /** Where it went another way, as a sentence. */
  differs?: string;
}

/** How long a process may take for what it does next, in milliseconds. */
const LIMIT_MS = 5_000;

/** It went another way than in the search. */
class Difference extends Error {}

export interface Stage {
  scope: Scope;
  /** The server of the search: it says what the real one must hold. */
  search: Server;
  server: RealServer;
  sellers: Seller[];
  news: News;
}

/** Follows the steps. Resolves with where it went another way, if it did. */
export async function follow(cell: Cell, { scope, search, server, sellers, news }: Stage): Promise<Followed> {
  const { counterexample: steps = [], reason } = cell;
  const failsOver = steps.findIndex(({ kind }) => kind === 'failover');
  /** The command that the replica does not hear of. */
  const unheard = steps.slice(0, Math.max(0, failsOver)).findLastIndex(({ sent }) => sent?.hasChanged);
  /** What the server of the search holds, and its replica. */
  let state = search.execute(scope.isCold ? search.cold : search.empty, 0, 0, stockCommand(scope, STOCK)).after;
  let replica = state;
  /** How much each process must have told. */
  const told = sellers.map(() => 0);
  /** Replies that are a step of their own, and have not been read. */
  const unread: Unread[] = [];
  let beganAt: number | undefined;
  let lateMs = 0;
  let where = 'The beginning';
  try {
    for (const [index, step] of steps.entries()) {
      where = `Step ${index + 1}`;
      if (beganAt !== undefined && step.kind !== 'clock')
        lateMs = Math.max(lateMs, performance.now() - beganAt - step.at);
      await take(step, index);
    }
    where = 'The end';
    await compareEnds();
    return { lateMs };
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    return { lateMs, differs: `${where}: ${error.message}.` };
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
    await untilItTells(step, seller);
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
    if (isOneStep) seller.passReplies(line);
    else seller.holdReplies(line);
    const read = seller.letGo(line, command);
    const expected = { seller, line, verb: String(command[0]), reply, read };
    if (isOneStep) return compareReply(expected);
    unread.push(expected);
    await server.settle();
  }

  async function readReply(step: Step, seller: Seller) {
    const isIt = (one: Unread) => one.seller === seller && step.command.startsWith(`reads the reply ${one.reply}`);
    const place = unread.findIndex(isIt);
    const expected = unread[place];
    // The reply to a command that was left out.
    if (expected === undefined && step.told.length === 0) return;
    if (expected === undefined) throw new Difference(`${seller.name} has no such reply to read`);
    unread.splice(place, 1);
    seller.passReplies(expected.line);
    await compareReply(expected);
  }

  async function compareReply({ seller, verb, reply, read }: Unread) {
    const real = await news.until(read, LIMIT_MS);
    if (real === undefined) throw new Difference(`no reply has come to ${seller.name}, instead of ${reply}`);
    if (!isSameReply(verb, real, reply)) throw new Difference(`the reply is ${real} instead of ${reply}`);
  }

  async function hear({ input }: Step, seller: Seller) {
    if (input?.type !== 'message') return;
    seller.passReplies('messages');
    const { channel, message } = (await news.until(() => seller.heard.shift(), LIMIT_MS)) ?? {};
    if (isAlike([channel, message], [input.channel, input.message])) return;
    throw new Difference(`${seller.name} hears ${message ?? 'nothing'} instead of ${input.message}`);
  }

  async function untilItTells(step: Step, seller: Seller) {
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
    for (const sku of skusOf(scope)) {
      const key = keysOf(sku).stock;
      const stock = search.execute(state, at, 0, ['GET', key]).reply;
      const realStock = await server.stock(key);
      if (realStock !== stock) throw new Difference(`the ${key} is ${realStock} instead of ${stock}`);
    }
    const isOver = (name: string) => (search.ends(state).get(name) ?? at) < at;
    const left = [...new Set(search.whatIsLeft(state))].filter((name) => !isOver(name)).sort();
    const realLeft = (await server.whatIsLeft()).sort();
    if (!isAlike(realLeft, left))
      throw new Difference(`Redis holds ${realLeft.join(', ')} instead of ${left.join(', ')}`);
  }
}

/** A reply that has not passed back, as the search has it. */
interface Unread {
  seller: Seller;
  line: Line;
  verb: string;
  reply: string;
  /** The real one, when it has. */
  read(): string | undefined;
}

/** What a process told, in words; it is different when any of them is. */
function inWords(told?: Omit<Told, 'at'>): string {
  if (told === undefined) return 'tells nothing';
  const { step, stock, why } = told;
  return `tells "${[step, stock, why].filter((part) => part !== undefined).join(' ')}"`;
}
