// The server as a function: its reply depends only on its contents, the time and the command.

import { scriptTexts, sha1Of } from '../simulation/scripts.ts';
import { openValkey, type Reply } from '../simulation/valkey.ts';

/** What the server holds, under a number: equal contents have equal numbers. */
export type ServerState = number;

export interface Executed {
  /** A number of its own. */
  id: number;
  reply: Reply;
  after: ServerState;
  /** What those who listen are sent, in this order: the number of each process, the channel and the message. */
  messages: { to: number; channel: string; message: string }[];
}

export interface Server {
  /** Without a key; it knows every script of `lua/`. */
  empty: ServerState;
  /** Without a key, and it knows no script. */
  cold: ServerState;
  /** Carries out a command of a process, which has a number, at a time, in milliseconds. */
  execute(state: ServerState, at: number, process: number, command: (string | number)[]): Executed;
  /** The state without the subscriptions of a process, whose connections are gone. */
  without(state: ServerState, process: number): ServerState;
  /** Does a process listen to a channel? */
  listens(state: ServerState, process: number): boolean;
  /** What it holds under a key; the same text for the same contents. */
  entry(state: ServerState, key: string): string | undefined;
  /** The channels to which somebody listens, once for each who does. */
  channels(state: ServerState): string[];
  /** The last millisecond in which each key is there; `Infinity` without an end. */
  ends(state: ServerState): ReadonlyMap<string, number>;
}

interface Contents {
  /** The last millisecond in which each key is there. */
  ends: Map<string, number>;
  /** Each key as `DUMP` writes it, and when it ends. */
  entries: { key: string; dump: string; endsAt: number }[];
  /** The hashes of the scripts that it knows. */
  scripts: string[];
  /** Who listens to which channel, as `process channel`. */
  subscriptions: string[];
  /** The numbers of those who listen. */
  listeners: Set<number>;
  /** What it holds under each key, as a text. */
  texts: Map<string, string>;
  /** What it has answered in this state, by the time, the command and who asks. */
  executed: Map<string, Executed>;
}

/** The server's clock is ahead of the search's by this, in milliseconds: a time of 0 would be no time. */
const CLOCK_STARTS_AT = 1_000_000;
/** The connection for commands; each process has another one, by its number, that listens. */
const COMMANDS = 0;
const listening = (process: number) => process + 1;

export async function openServer(): Promise<Server> {
  const valkey = await openValkey();
  const states: Contents[] = [];
  /** Every script that was ever loaded, by its hash. */
  const texts = new Map<string, string>();
  const numbers = new Map<string, ServerState>();
  let answers = 0;
  /** What it holds now, and what its clock says. */
  let current: ServerState | undefined;
  let now = 0;

  for (const text of scriptTexts) texts.set(sha1Of(text), text);

  function numberOf({
    entries,
    scripts,
    subscriptions,
  }: Pick<Contents, 'entries' | 'scripts' | 'subscriptions'>): ServerState {
    const name = JSON.stringify([entries.map(({ key, dump, endsAt }) => [key, dump, endsAt]), scripts, subscriptions]);
    const found = numbers.get(name);
    if (found !== undefined) return found;
    numbers.set(name, states.length);
    const ends = new Map(entries.map(({ key, endsAt }) => [key, endsAt]));
    const listeners = new Set(subscriptions.map((one) => splitSubscription(one)[0]));
    const texts = new Map(entries.map(({ key, dump, endsAt }) => [key, `${dump} ${endsAt}`]));
    return states.push({ entries, scripts, subscriptions, ends, listeners, texts, executed: new Map() }) - 1;
  }

  function contentsOf(state: ServerState): Contents {
    const contents = states[state];
    if (contents === undefined) throw new Error(`The server was never in state ${state}.`);
    return contents;
  }

  /** The numbers of commands: by the command, which is asked for again and again, and by its text. */
  const byCommand = new WeakMap<object, Numbered>();
  const byText = new Map<string, Numbered>();
  /** The same for the same command. */
  function numbered(command: (string | number)[]): Numbered {
    const found = byCommand.get(command);
    if (found !== undefined) return found;
    const text = JSON.stringify(command);
    const isSubscribing = /SUBSCRIBE$/.test(String(command[0]));
    const made = byText.get(text) ?? { number: byText.size, isSubscribing };
    byText.set(text, made);
    byCommand.set(command, made);
    return made;
  }

  function restore(state: ServerState, at: number) {
    // What has ended may be there still, and would come back with an earlier time.
    if (state === current && at >= now) return;
    const { entries, scripts, subscriptions } = contentsOf(state);
    // A key that ends now would be gone at once.
    valkey.setTime(-CLOCK_STARTS_AT + 1);
    const keys = entries.map(({ key, dump, endsAt }) => {
      const end = Number.isFinite(endsAt) ? endsAt + CLOCK_STARTS_AT : 0;
      return ['RESTORE', key, end, dump, 'ABSTTL'];
    });
    const before = current === undefined ? undefined : contentsOf(current);
    const load = scripts.map((sha1) => ['SCRIPT', 'LOAD', texts.get(sha1) ?? '']);
    const isSame = before?.scripts.join() === scripts.join();
    valkey.pipeline(COMMANDS, [['FLUSHALL'], ...keys, ...(isSame ? [] : [['SCRIPT', 'FLUSH'], ...load])]);
    const stood = before?.subscriptions ?? [];
    for (const one of stood) if (!subscriptions.includes(one)) subscribe(one, 'UNSUBSCRIBE');
    for (const one of subscriptions) if (!stood.includes(one)) subscribe(one, 'SUBSCRIBE');
  }

  function subscribe(subscription: string, command: 'SUBSCRIBE' | 'UNSUBSCRIBE') {
    const [process, channel = ''] = splitSubscription(subscription);
    valkey.pipeline(listening(process), [[command, channel]]);
  }

  function readEntries(): Contents['entries'] {
    const [keys] = valkey.pipeline(COMMANDS, [['KEYS', '*']]) as [string[]];
    const names = keys.toSorted();
    const asked = names.flatMap((key) => ['DUMP', 'PEXPIRETIME'].map((command) => [command, key]));
    const replies = valkey.pipeline(COMMANDS, asked);
    return names.map((key, at) => {
      const end = Number(replies[at * 2 + 1]);
      const endsAt = end === -1 ? Number.POSITIVE_INFINITY : end - CLOCK_STARTS_AT;
      return { key, dump: String(replies[at * 2]), endsAt };
    });
  }

  /** The scripts that the server knows after a command. */
  function scriptsAfter(scripts: string[], [name, ...args]: (string | number)[]): string[] {
    const isLoaded = name === 'SCRIPT' && /^load$/i.test(String(args[0]));
    if (name !== 'EVAL' && !isLoaded) return scripts;
    const text = String(args[isLoaded ? 1 : 0]);
    const sha1 = sha1Of(text);
    texts.set(sha1, text);
    return [...new Set([...scripts, sha1])].toSorted();
  }

  return {
    empty: numberOf({ entries: [], scripts: [...texts.keys()].toSorted(), subscriptions: [] }),
    cold: numberOf({ entries: [], scripts: [], subscriptions: [] }),
    execute(state, at, process, command) {
      const before = contentsOf(state);
      const { number, isSubscribing } = numbered(command);
      const name = isSubscribing ? `${at} ${number} ${process}` : `${at} ${number}`;
      const found = before.executed.get(name);
      if (found) return found;
      restore(state, at);
      now = at;
      valkey.setTime(at);
      const { reply, messages } = valkey.run(isSubscribing ? listening(process) : COMMANDS, command);
      const scripts = scriptsAfter(before.scripts, command);
      const subscriptions = subscriptionsAfter(before.subscriptions, process, command);
      current = numberOf({ entries: readEntries(), scripts, subscriptions });
      const heard = messages.map(({ to, message }) => {
        const [, channel, text] = message as string[];
        return { to: to - listening(0), channel: String(channel), message: String(text) };
      });
      answers += 1;
      const executed = { id: answers, reply, after: current, messages: heard };
      before.executed.set(name, executed);
      return executed;
    },
    without(state, process) {
      const contents = contentsOf(state);
      if (!contents.listeners.has(process)) return state;
      const subscriptions = contents.subscriptions.filter((one) => splitSubscription(one)[0] !== process);
      return numberOf({ ...contents, subscriptions });
    },
    listens: (state, process) => contentsOf(state).listeners.has(process),
    entry: (state, key) => contentsOf(state).texts.get(key),
    channels: (state) => contentsOf(state).subscriptions.map((one) => splitSubscription(one)[1]),
    ends: (state) => contentsOf(state).ends,
  };
}

/** A command as the server knows it. */
interface Numbered {
  number: number;
  isSubscribing: boolean;
}

function splitSubscription(subscription: string): [number, string] {
  const [process = '', ...channel] = subscription.split(' ');
  return [Number(process), channel.join(' ')];
}

function subscriptionsAfter(before: string[], process: number, [name, channel]: (string | number)[]): string[] {
  const own = `${process} ${channel}`;
  if (name === 'SUBSCRIBE') return [...new Set([...before, own])].toSorted();
  return name === 'UNSUBSCRIBE' ? before.filter((one) => one !== own) : before;
}
