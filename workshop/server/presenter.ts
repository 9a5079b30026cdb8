// What a presenter's browser is answered, on this machine alone: the page, the stream of what is seen, and the commands.

import { type Command, commandSchema } from '../page/protocol.ts';
import { createListener, policyOf, tokenGate } from './listener.ts';
import { Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';

export interface PresenterAppParts {
  page: string;
  /** Who has it may see and play. */
  token: string;
  stream: Pick<Stream, 'isFull' | 'follow'>;
  /** Rejects with Refusal. */
  command: (command: Command) => Promise<void>;
  /** Called with an error that is nobody's fault but ours. */
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
      hostRefused: 'The page answers to this machine alone.',
      tokenRefused: 'This is not the address of the page that runs now. Open the one that npm run live has printed.',
    },
    follow(_request, response) {
      if (stream.isFull()) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'Too many windows follow already: close one.');
      stream.follow(response);
    },
    commands: { path: '/command', schema: commandSchema, limit: '1kb' },
    carryOut: command,
    onBug,
  });
