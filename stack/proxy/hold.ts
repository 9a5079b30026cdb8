// Holds one command or one reply in the proxy until it is released or dropped.

import type { Command, Meant } from './command.ts';

export type Hold<What = Command> = ReturnType<typeof createHold<What>>;
/** A command that is held, or will be. */
export type Held<What = Command> = Hold<What>['held'];

/** The connection on which it is held. */
interface Place {
  letGo(): void;
  /** Absent for a reply. */
  drop?(): void;
  /** For a reply: true if the client has closed the connection and no longer waits. */
  isGone?(): boolean;
}

/** A hold for the next matching command. `forget` is called when it no longer waits for one. */
export function createHold<What = Command>(meant: Meant, forget: () => void) {
  let place: Place | undefined;
  let resolveArrived: (what: What) => void;
  let rejectArrived: (error: unknown) => void;
  /** The command has reached Redis, or never will. */
  let settle: (hasReachedRedis: boolean) => void = () => {};
  /** Resolves when the command has arrived at the proxy. Rejects if the hold is cancelled first, or `meant` throws. */
  const arrived = new Promise<What>((resolve, reject) => {
    resolveArrived = resolve;
    rejectArrived = reject;
  });
  // Nobody has to wait for it.
  arrived.catch(() => {});
  const reached = new Promise<boolean>((resolve) => {
    settle = resolve;
  });

  /** Cancelled before the command arrived. */
  function giveUp(error: unknown) {
    forget();
    rejectArrived(error);
    settle(false);
  }

  /** Cancels a hold whose command has not arrived, like `letGo` and `drop` do. A command that has arrived stays held. */
  function cancel() {
    if (place === undefined) giveUp(new Error('The hold was cancelled.'));
  }

  return {
    meant,
    held: {
      arrived,
      /**
       *
       * Forwards the command and what came after it. Resolves with true when it is on its way to Redis; if the client is gone,
       * when Redis has run it. Resolves with false if it never gets there: Redis or the proxy has closed the connection, or it
       * was dropped.
       *
       */
      letGo() {
        cancel();
        place?.letGo();
        return reached;
      },
      /** The command and what came after it never reach Redis, and the client's connection is reset. */
      drop() {
        cancel();
        place?.drop?.();
      },
      isGone: () => place?.isGone?.() ?? false,
      cancel,
    },
    /** The command has arrived, and waits until it is released or dropped. */
    arrive(what: What, itsPlace: Place) {
      place = itsPlace;
      resolveArrived(what);
    },
    settle,
    giveUp,
  };
}
