// The folder through which `npm run up` and `npm run down` of one checkout find each other: the stack
// that is running has its socket in it.
//
// A claim listens in a folder of its own, and then renames that folder to the one that all look at.
// A folder replaces no other that has something in it. So the system lets one of many claims through,
// and its socket answers from the start. A socket that does not answer was left by a stack that was
// killed. It is removed by its name, which no other claim has: never that of a newer stack. No process
// is ever ended by a number that another process may have by now.

import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOf } from './call-of.ts';
import { dismissReaper, notifyReaper, projectDir } from './parts.ts';

const checkout = createHash('sha1').update(projectDir).digest('hex').slice(0, 12);
const usualDir = join(tmpdir(), `lockstep-up-${checkout}`);
/** Longer paths of a socket are cut off without a word. Linux allows four bytes more. */
const LONGEST_PATH = 103;

/**
 * Claims the right to be the one stack that is up. Resolves with undefined when another `npm run up` of this checkout is running. Rejects with a
 * sentence when the folder for temporary files can't hold a socket.
 */
export async function claimControl(dir = usualDir) {
  const id = randomUUID().slice(0, 8);
  const ownDir = `${dir}-${id}`;
  const listensAt = join(ownDir, `${id}.sock`);
  const socketPath = join(dir, `${id}.sock`);
  const server = createServer();
  /** Resolves when `npm run down` asks. */
  const downAsked = new Promise<string>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => resolve(`Stopping: ${callOf('down')} asked for it.`));
    });
  });

  /** Answers `npm run down`: the stack is down. */
  async function release() {
    server.close();
    rmSync(socketPath, { force: true });
    removeEmpty(dir);
    rmSync(ownDir, { recursive: true, force: true });
    notifyReaper(`-socket ${socketPath}`);
    notifyReaper(`-dir ${ownDir}`);
    await dismissReaper();
  }

  notifyReaper(`+dir ${ownDir}`);
  notifyReaper(`+socket ${socketPath}`);
  try {
    if (Buffer.byteLength(listensAt) > LONGEST_PATH) throw new Error('the path is too long');
    mkdirSync(ownDir);
    await once(server.listen(listensAt), 'listening');
    if (await takePlace(ownDir, dir)) return { downAsked, release };
  } catch (error) {
    await release();
    const why = `${callOf('up')} cannot listen on ${listensAt}: ${(error as Error).message}.`;
    throw new Error(`${why} Set TMPDIR to a writable folder with a short path.`);
  }
  await release();
  return undefined;
}

/** Asks the running stack to stop, and waits until it has. Resolves with false when none is up. */
export async function askDown(dir = usualDir): Promise<boolean> {
  for (const socketPath of socketsIn(dir)) if (await ask(socketPath)) return true;
  return false;
}

/** Renames `ownDir` to `dir`. Resolves with false when a stack that is up has its socket there. */
async function takePlace(ownDir: string, dir: string): Promise<boolean> {
  for (;;) {
    try {
      renameSync(ownDir, dir);
      return true;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    }
    for (const socketPath of socketsIn(dir)) {
      if (await isAnswered(socketPath)) return false;
      rmSync(socketPath, { force: true });
    }
  }
}

function socketsIn(dir: string): string[] {
  try {
    return readdirSync(dir).map((name) => join(dir, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function removeEmpty(dir: string) {
  try {
    rmdirSync(dir);
  } catch {
    // Another stack has its socket in it, or it was never there.
  }
}

/** Rejects when it can't be told. */
function isAnswered(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', (error) =>
      ['ECONNREFUSED', 'ENOENT'].includes(codeOf(error)) ? resolve(false) : reject(error),
    );
  });
}

function ask(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.write('down'));
    // The connection closes when the other process ends.
    socket.on('close', (hadError) => resolve(!hadError));
    socket.on('error', () => {});
    socket.resume();
  });
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code);
