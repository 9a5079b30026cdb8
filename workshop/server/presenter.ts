// The presenter's listener, on this machine only: the page, the stream of updates, and the commands.

import { type Command, commandSchema } from '../page/protocol.ts';
import { createListener, policyOf, tokenGate } from './listener.ts';
import { Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';

export interface PresenterAppParts {
  page: string;
  /** A browser with this token may watch and play. */
  token: string;
  stream: Pick<Stream, 'isFull' | 'follow'>;
  /** Rejects with Refusal. */
  command: (command: Command) => Promise<void>;
  /** Called with errors that are our own bugs. */
  onBug: (error: unknown) => void;
}

export const createPresenterApp = ({ page, token, stream, command, onBug }: PresenterAppParts) =>
  createListener({
    files: { '/': { type: 'text/html; charset=utf-8', text: page } },
    // The page is one file with all that it needs, and runs the locks that are written in it in a worker.
    policy: policyOf("'unsafe-inline' 'unsafe-eval'", 'worker-src blob:'),
    names: () => [],
    isShared: false,
    isToken: tokenGate(token),
    says: {
      hostRefused: 'This page is only available on this machine.',
      tokenRefused: 'This address is out of date. Open the address that npm run live printed.',
    },
    follow(_request, response) {
      if (stream.isFull()) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'Too many windows are open: close one.');
      stream.follow(response);
    },
    commands: { path: '/command', schema: commandSchema, limit: '1kb' },
    carryOut: command,
    onBug,
  });
