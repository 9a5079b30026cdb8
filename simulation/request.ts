// A simulated HTTP request to a node: it gets a status and a body, or is cut off.

import type { VirtualNode } from './node.ts';
import type { Schedule } from './schedule.ts';

/** How long a request takes to its node, and the answer back, in milliseconds. */
const WAY_MS = 0.1;

export interface HttpAnswer {
  status: number;
  body: string;
}

/** What the service knows of a client: whether it is there, and when it hangs up. */
interface Client {
  readonly destroyed: boolean;
  on(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
  /** As Express has it: what the request is recorded under. */
  locals: { requestId?: string | undefined };
}

export interface RequestOptions {
  schedule: Schedule;
  node: VirtualNode;
  /** What the node does. Resolves with the body of its answer. */
  act(client: Client): Promise<object>;
  /** The body of the answer when that rejects. Undefined when the client is gone. */
  problemOf(error: unknown): { status: number } | undefined;
  requestId?: string | undefined;
  /** Called once: with the answer, or with undefined when the request is cut off. */
  onEnd(answer: HttpAnswer | undefined): void;
}

export type Request = ReturnType<typeof sendRequest>;

/** Sends a request. */
export function sendRequest({ schedule, node, act, problemOf, requestId, onEnd }: RequestOptions) {
  const listeners = new Set<() => void>();
  const client = {
    destroyed: false,
    on: (_event: 'close', listener: () => void) => listeners.add(listener),
    off: (_event: 'close', listener: () => void) => listeners.delete(listener),
    locals: { requestId },
  };
  let isOver = false;

  function end(answer: HttpAnswer | undefined) {
    if (isOver) return;
    isOver = true;
    onEnd(answer);
  }

  function answer(status: number, body: object) {
    schedule.after(WAY_MS, () => end({ status, body: JSON.stringify(body) }));
  }

  schedule.after(WAY_MS, () => {
    if (isOver || node.isDead()) return end(undefined);
    node.take(() => {
      act(client).then(
        (body) => answer(200, body),
        (error) => {
          const problem = problemOf(error);
          if (problem) answer(problem.status, problem);
        },
      );
    });
  });

  return {
    node,
    /** The node has died, or is not there. */
    cutOff: () => end(undefined),
    /** The client disconnects: it has no answer from here on, whatever its node does. */
    hangUp() {
      schedule.after(0, () => {
        end(undefined);
        node.take(() => {
          client.destroyed = true;
          for (const listener of [...listeners]) listener();
        });
      });
    },
  };
}
