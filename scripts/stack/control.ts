// The socket by which `npm run up` and `npm run down` of one checkout know of each other.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dismissReaper, notifyReaper, projectDir } from './parts.ts';

// No process is ever ended by a number that another process may have by now.
const dir = join(tmpdir(), `lockstep-up-${createHash('sha1').update(projectDir).digest('hex').slice(0, 12)}`);
const socketPath = join(dir, 'control.sock');
/** Longer paths of a socket are cut off without a word. Linux allows four bytes more. */
const LONGEST_PATH = 103;

/** The right to be the one stack that is up. */
export interface Control {
  /** Resolves when `npm run down` asks. */
  downAsked: Promise<string>;
  /** Answers `npm run down`: the stack is down. */
  release(): Promise<void>;
}

/**
 * Resolves with undefined when another `npm run up` of this checkout is running. Rejects with a sentence when the folder for
 * temporary files can't hold a socket.
 */
export async function claimControl(): Promise<Control | undefined> {
  if (await isAnswered()) return undefined;
  const server = createServer();
  const downAsked = new Promise<string>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => resolve('Stopping: npm run down has asked.'));
    });
  });

  async function release() {
    server.close();
    rmSync(dir, { recursive: true, force: true });
    notifyReaper(`-dir ${dir}`);
    await dismissReaper();
  }

  notifyReaper(`+dir ${dir}`);
  try {
    if (Buffer.byteLength(socketPath) > LONGEST_PATH) throw new Error('the path is too long');
    // A stack that was killed may have left its socket.
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    await once(server.listen(socketPath), 'listening');
  } catch (error) {
    await release();
    const why = `npm run up cannot listen on ${socketPath}: ${(error as Error).message}.`;
    throw new Error(`${why} Set TMPDIR to a folder with a short path that you may write to.`);
  }
  return { downAsked, release };
}

/** Asks the running stack to stop and waits until it has. Resolves with false when there is none. */
export function askDown(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.write('down'));
    // The connection closes when the other process ends.
    socket.on('close', (hadError) => resolve(!hadError));
    socket.on('error', () => {});
    socket.resume();
  });
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
