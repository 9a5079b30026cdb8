// Holds one command, or one reply, at the fault proxy until it is passed on or dropped.

import type { Command, Meant } from './command.ts';

export type Hold<What = Command> = ReturnType<typeof createHold<What>>;
/** A command that is held, or will be. */
export type Held<What = Command> = Hold<What>['held'];

/** Where it is held. */
interface Place {
  letGo(): void;
  /** Absent of a reply. */
  drop?(): void;
  /** Of a reply: the client has closed the connection, and waits for it no longer. */
  isGone?(): boolean;
}

/** A hold for the next command that is meant. `forget` is called when none is waited for any more. */
export function createHold<What = Command>(meant: Meant, forget: () => void) {
  let place: Place | undefined;
  let resolveArrived: (what: What) => void;
  let rejectArrived: (error: unknown) => void;
  /** It has reached Redis, or never will. */
  let settle: (hasReachedRedis: boolean) => void = () => {};
  /** Resolves when the command has arrived at the link. Rejects when it is not waited for any more, or `meant` throws. */
  const arrived = new Promise<What>((resolve, reject) => {
    resolveArrived = resolve;
    rejectArrived = reject;
  });
  // Nobody has to wait for it.
  arrived.catch(() => {});
  const reached = new Promise<boolean>((resolve) => {
    settle = resolve;
  });

  /** It has not come and is not waited for any more. */
  function giveUp(error: unknown) {
    forget();
    rejectArrived(error);
    settle(false);
  }

  /** Waits for the command no longer, as `letGo` and `drop` do before it has arrived. One that has stays held. */
  function cancel() {
    if (place === undefined) giveUp(new Error('The hold was cancelled.'));
  }

  return {
    meant,
    held: {
      arrived,
      /**
       * Passes the command on, and what came after it. Resolves with true when it is on its way to Redis; if the client has
       * gone, when Redis has run it. Resolves with false when it never gets there: Redis or the link has closed the
       * connection meanwhile, or it was dropped.
       */
      letGo() {
        cancel();
        place?.letGo();
        return reached;
      },
      /** The command and what came after it never reach Redis, and the client's connection ends as by a reset. */
      drop() {
        cancel();
        place?.drop?.();
      },
      isGone: () => place?.isGone?.() ?? false,
      cancel,
    },
    /** The command has come, and waits until it is let go or dropped. */
    arrive(what: What, itsPlace: Place) {
      place = itsPlace;
      resolveArrived(what);
    },
    settle,
    giveUp,
  };
}
