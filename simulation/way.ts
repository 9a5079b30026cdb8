// The path between a node and a server, through the fault proxy. Commands arrive in order, and so do replies.

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

/** One connection on the way: what was sent on it and has not arrived, the oldest first. */
export type Sender = Packet[];

interface Packet {
  /** Held at the proxy; on its way to the server; there, and it arrives when all before it has; or never arriving. */
  is: 'held' | 'under way' | 'there' | 'dropped';
  /** The connection ends with it. */
  isLast?: true;
  hasArrived?: boolean;
  /** Returns false when the server is not there to get it. */
  arrive(): boolean;
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

  /** What is there arrives, up to what is still on its way. */
  function arriveInOrder(sender: Sender) {
    while (sender[0]?.is === 'there') {
      const packet = sender.shift() as Packet;
      packet.hasArrived = packet.arrive();
    }
  }

  /** What is at the proxy goes on to the server. */
  function goOn(sender: Sender, packet: Packet, ms: number) {
    lastSentAt = Math.max(lastSentAt, schedule.later(ms));
    schedule.after(lastSentAt - schedule.now(), () => {
      packet.is = 'there';
      arriveInOrder(sender);
    });
  }

  /** The command is at the proxy. */
  function cross(sender: Sender, { read, message, arrive, drop }: Sent) {
    proxy.see(read);
    const hold = proxy.holdFor(read);
    const packet: Packet = { is: hold ? 'held' : 'under way', arrive };
    sender.push(packet);
    if (hold === undefined) return goOn(sender, packet, node.oneWayMs);
    tell({ kind: 'held', ...message });
    hold.arrive(read, keep(sender, packet, message, drop));
  }

  /** The command stays at the proxy, and what its connection sends later with it. */
  function keep(sender: Sender, packet: Packet, message: Message, drop: () => void): Place {
    return {
      letGo() {
        if (packet.is !== 'held') return false;
        tell({ kind: 'let go', ...message });
        packet.is = 'there';
        // It arrives at once, and with it all that its connection has sent by now and nobody holds.
        for (const each of sender) if (each.is === 'under way') each.is = 'there';
        arriveInOrder(sender);
        return packet.hasArrived ?? true;
      },
      drop() {
        if (packet.is !== 'held') return;
        for (const each of sender.splice(sender.indexOf(packet))) {
          // The end of the connection arrives all the same.
          if (each.isLast) sender.push(each);
          else each.is = 'dropped';
        }
        arriveInOrder(sender);
        drop();
      },
    };
  }

  /** Does this when nothing keeps it in its process or at a proxy that is silent. */
  const leave = (run: () => void, isEnd = false) => schedule.after(node.busyMs(), () => proxy.pass(run, isEnd));

  return {
    send: (sender: Sender, sent: Sent) => leave(() => cross(sender, sent)),
    /** The connection ends: `arrive` is called when all that was sent on it has arrived. */
    end(sender: Sender, arrive: () => boolean) {
      leave(() => {
        const packet: Packet = { is: 'under way', isLast: true, arrive };
        sender.push(packet);
        goOn(sender, packet, 0);
      }, true);
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
