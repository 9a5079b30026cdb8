// The way between a node and a server, through the proxy before it. What is sent on it arrives in order, and so does what comes back.

import type { Message, Tell } from './events.ts';
import type { Place, VirtualProxy } from './proxy.ts';
import type { Schedule } from './schedule.ts';
import type { ReadCommand } from './scripts.ts';

/** The process at the near end. */
export interface NearEnd {
  name: string;
  /** How long a packet takes between it and a server, in milliseconds. */
  oneWayMs: number;
  /** Something comes to it: `what` is called when its process can take it, and never when that is dead. */
  take(what: () => void): void;
  /** For how long nothing leaves it, in milliseconds, because its event loop is blocked. */
  busyMs(): number;
}

export interface WayOptions {
  schedule: Schedule;
  proxy: VirtualProxy;
  node: NearEnd;
  tell: Tell;
}

/** One connection on the way: while a command of it is held, what it sends later stays behind that. */
export interface Sender {
  behind?: (() => void)[] | undefined;
}

/** A command that is sent. */
export interface Sent {
  /** As the proxy reads it. */
  read: ReadCommand;
  message: Message;
  /** It is at the server. Returns false when that is not there to get it. */
  arrive(): boolean;
  /** The proxy has dropped it: its connection ends. */
  drop(): void;
}

export function openWay({ schedule, proxy, node, tell }: WayOptions) {
  let lastSentAt = 0;
  let lastReplyAt = 0;

  /** The command is at the proxy. */
  function cross(sender: Sender, sent: Sent) {
    const { read, arrive } = sent;
    proxy.see(read);
    if (sender.behind) return void sender.behind.push(arrive);
    const hold = proxy.holdFor(read);
    if (hold) return hold.arrive(read, keep(sender, sent));
    lastSentAt = Math.max(lastSentAt, schedule.later(node.oneWayMs));
    schedule.after(lastSentAt - schedule.now(), arrive);
  }

  /** The command stays at the proxy, and what its connection sends later with it. */
  function keep(sender: Sender, { message, arrive, drop }: Sent): Place {
    const later: (() => void)[] = [];
    sender.behind = later;
    tell({ kind: 'held', ...message });
    function free() {
      if (sender.behind === later) sender.behind = undefined;
      return later.splice(0);
    }
    return {
      letGo() {
        tell({ kind: 'let go', ...message });
        const came = free();
        const hasArrived = arrive();
        for (const each of came) each();
        return hasArrived;
      },
      drop() {
        free();
        drop();
      },
    };
  }

  return {
    send: (sender: Sender, sent: Sent) => schedule.after(node.busyMs(), () => proxy.pass(() => cross(sender, sent))),
    /** Does this when all that was sent has arrived, and at once when a command is held: behind that. */
    afterAll(sender: Sender, run: () => void) {
      if (sender.behind) sender.behind.push(run);
      else schedule.after(Math.max(0, lastSentAt - schedule.now()), run);
    },
    /** Something comes back: `hear` is called when the node has it. */
    comeBack(hear: () => unknown) {
      proxy.pass(() => {
        lastReplyAt = Math.max(lastReplyAt, schedule.later(proxy.delayMs()));
        schedule.after(lastReplyAt - schedule.now(), () =>
          proxy.pass(() => schedule.after(node.oneWayMs, () => node.take(hear))),
        );
      });
    },
  };
}
