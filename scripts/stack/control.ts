import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dismissReaper, notifyReaper, projectDir } from './parts.ts';

// `up` listens on a socket that belongs to this checkout, and `down` speaks to whoever listens there: no process is ever
// ended by a number that another process may have by now.
const dir = join(tmpdir(), `lockstep-up-${createHash('sha1').update(projectDir).digest('hex').slice(0, 12)}`);
const socketPath = join(dir, 'control.sock');

/** The right to be the one stack that is up. */
export interface Control {
  /** Resolves when `npm run down` asks. */
  downAsked: Promise<string>;
  /** Tells whoever asked that it is done. */
  release(): Promise<void>;
}

/** Resolves with undefined when another `npm run up` of this checkout is running. */
export async function claimControl(): Promise<Control | undefined> {
  if (await isAnswered()) return undefined;
  // A stack that was killed may have left its socket.
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  notifyReaper(`+dir ${dir}`);

  const server = createServer();
  const downAsked = new Promise<string>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => resolve('Stopping: npm run down has asked.'));
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    downAsked,
    async release() {
      server.close();
      rmSync(dir, { recursive: true, force: true });
      notifyReaper(`-dir ${dir}`);
      await dismissReaper();
    },
  };
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
