// A counterexample of the search, replayed on a real Redis with real processes: each of their commands waits in a link until it
// is its turn.

import { dirname, relative, resolve } from 'node:path';
import { type Cell, scopeFor } from '../../prove/cell.ts';
import { type Scope, scopes } from '../../prove/scopes.ts';
import { openServer, type Server } from '../../prove/server.ts';
import { dismissReaper, projectDir } from '../../scripts/stack/parts.ts';
import { type Followed, follow } from './follow.ts';
import { createNews } from './news.ts';
import { openRealServer, type RealServer, UnfitServerError } from './real-server.ts';
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

/** A step that comes later than this, in milliseconds, may meet a lease that is over or a timer that has fired. */
const LATE_MS = 150;
/** How often it is tried on a machine that was too busy for its times. */
const TRIES = 3;

/**
 * Replays the counterexample of a cell, whose lock is in this file. What was violated has happened for real when it goes the
 * same way: what each process tells says who is inside together, and Redis says what was lost. Rejects when a process
 * or a server can't be started or ends too soon, and when `signal` aborts. Nothing is left running either way.
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
      if (replayed instanceof UnfitServerError) return cannot(replayed.server, replayed.message);
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
  if (counterexample.some(({ command }) => command.includes('Math.random() is'))) return 'its lock uses Math.random()';
  return undefined;
}

async function replayOnce(
  cell: Cell,
  file: string,
  search: Server,
  signal?: AbortSignal,
): Promise<(Followed & { server: string }) | UnfitServerError> {
  const { counterexample: steps = [], processes, sales } = cell;
  const scope = scopeFor(scopes.find(({ name }) => name === cell.scope) as Scope, cell);
  const news = createNews(signal);
  const sellers: Seller[] = [];
  let real: RealServer | undefined;
  try {
    const hasReplica = steps.some(({ kind }) => kind === 'failover');
    const lock = lockIn(file);
    const server = await openRealServer({ news, lock: lock.name, scope, hasReplica });
    real = server;
    const starts = Array.from({ length: processes }, async (_, index) => {
      const script = { businessMs: 0, ...scope.script?.(index) };
      sellers[index] = await startSeller({ index, lock, sales, script, redisUrl: server.url(), news });
    });
    for (const start of await Promise.allSettled(starts)) if (start.status === 'rejected') throw start.reason;
    return { server: server.name, ...(await follow(cell, { scope, search, server, sellers, news })) };
  } catch (error) {
    if (error instanceof UnfitServerError) return error;
    throw error;
  } finally {
    await Promise.all(sellers.map((seller) => seller?.stop()));
    await real?.close();
    news.close();
    await dismissReaper();
  }
}

/** A built-in lock is part of the bundle that a process runs. */
function lockIn(file: string) {
  const path = relative(resolve(projectDir, 'locks'), resolve(file));
  const isOfCourse = ['.', 'beyond'].includes(dirname(path));
  return isOfCourse ? { name: path.replace(/^beyond.|\.ts$/g, '') } : { file: resolve(file) };
}
