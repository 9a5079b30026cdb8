// A real process of a replay, and its two lines to Redis, each through a link that holds every command.

import type { Told } from '../../prove/process.ts';
import { nameOf } from '../../prove/state.ts';
import { type Held, type Link, openLink } from '../../scripts/link/link.ts';
import { bundledArgs, hostArgs } from '../../scripts/stack/bundle.ts';
import { startPart } from '../../scripts/stack/parts.ts';
import type { Line, Command as Searched } from '../../virtual/world.ts';
import { isSameCommand } from './alike.ts';
import type { News } from './news.ts';
import { type FromSeller, isOfConnection, type SellerTask } from './seller-task.ts';

export interface SellerOptions extends Omit<SellerTask, 'name' | 'ports'> {
  /** 0 for A. */
  index: number;
  redisUrl: string;
  news: News;
}

/** Replies that are held come so much later, in milliseconds, unless they are let go before. */
const HELD_MS = 60_000;

/** The commands on one of its connections. */
interface Commands {
  link: Link;
  /** Those that the link holds, oldest first: their names and arguments. */
  waiting: { command: string[]; held: Held }[];
  /** How many were let go. */
  count: number;
  /** What they were answered, in their order. */
  replies: string[];
}

export type Seller = Awaited<ReturnType<typeof startSeller>>;

/** Starts process A, B, … It does nothing before it is told to begin. */
export async function startSeller({ index, redisUrl, news, ...task }: SellerOptions) {
  const name = nameOf(index);
  const lines: Record<Line, Commands> = { commands: await openLine(), messages: await openLine() };
  const told: Omit<Told, 'at'>[] = [];
  const heard: { channel: string; message: string }[] = [];
  let isReady = false;
  let status: 'runs' | 'is paused' | 'has ended' = 'runs';

  async function openLine(): Promise<Commands> {
    const line: Commands = { link: await openLink(redisUrl), waiting: [], count: 0, replies: [] };
    holdNext(line);
    return line;
  }

  function holdNext(line: Commands) {
    const held = line.link.holdNext(({ name, args }) => {
      if (isOfConnection(name)) return false;
      line.waiting.push({ command: [name, ...args], held });
      // Before the next command is read.
      holdNext(line);
      news.tell();
      return true;
    });
  }

  function listen(event: FromSeller) {
    if (event.type === 'ready') isReady = true;
    if (event.type === 'told') told.push(event.told);
    if (event.type === 'reply') lines[event.line].replies.push(event.reply);
    if (event.type === 'message') heard.push(event);
    news.tell();
  }

  const ports = { commands: lines.commands.link.port, messages: lines.messages.link.port };
  const file = 'loadtest/prove/seller.ts';
  const args = await ('file' in task.lock ? hostArgs(file) : bundledArgs(file));
  let closing: Promise<unknown> | undefined;
  function closeLines() {
    closing ??= Promise.all(Object.values(lines).map(({ link }) => link.close()));
    return closing;
  }
  const part = await startPart({
    name: `process ${name}`,
    command: process.execPath,
    args: [...args, JSON.stringify({ ...task, name, ports } satisfies SellerTask)],
    isReady: async () => isReady,
    onMessage: (event) => listen(event as FromSeller),
  }).catch(async (error) => {
    await closeLines();
    throw error;
  });
  void part.ended.then(() => {
    status = 'has ended';
    news.tell();
  });

  /** The place in its line of a command that the link holds; -1 when there is none. */
  const placeOf = (line: Line, command: Searched) =>
    lines[line].waiting.findIndex((one) => isSameCommand(one.command, command));

  return {
    name,
    index,
    /** What it has told of its sales. */
    told,
    /** The messages that have reached it. */
    heard,
    status: () => status,
    /** What its link holds on this line, for a sentence. */
    held: (line: Line) => lines[line].waiting.map(({ command }) => command.join(' ')),
    begin: () => part.send({ type: 'begin' }),
    hangUp: () => part.send({ type: 'hang up' }),
    pause() {
      status = 'is paused';
      part.signal('SIGSTOP');
    },
    wake() {
      status = 'runs';
      part.signal('SIGCONT');
    },
    hasSent: (line: Line, command: Searched) => placeOf(line, command) >= 0,
    /**
     * Lets a command that the link holds go, after those that were sent before it on this line: a timer that the search left
     * for later has fired. Returns what reads its reply, when it has passed back.
     */
    letGo(line: Line, command: Searched): () => string | undefined {
      const commands = lines[line];
      const gone = commands.waiting.splice(0, placeOf(line, command) + 1);
      commands.count += gone.length;
      const place = commands.count - 1;
      for (const { held } of gone) void held.letGo();
      return () => commands.replies[place];
    },
    /** From here on no reply, and no message, passes back on this line. */
    holdReplies: (line: Line) => lines[line].link.delayReplies(HELD_MS),
    passReplies: (line: Line) => lines[line].link.delayReplies(0),
    /** Kills it. What the link holds of it never reaches Redis. */
    async kill() {
      part.signal('SIGKILL');
      await part.ended;
      await closeLines();
    },
    /** Leads it to another Redis. It connects again, and sends again what the link held. */
    moveTo(url: string) {
      for (const { link, waiting } of Object.values(lines)) {
        waiting.length = 0;
        link.moveTo(url);
      }
    },
    async stop() {
      await part.stop();
      await closeLines();
    },
  };
}
