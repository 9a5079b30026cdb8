// The commands of a process that wait for their replies.

import { type Reply, ReplyError } from '../valkey.ts';
import type { Moment } from './moment.ts';

/** To each server a process has one connection for commands, and one that listens. On each, first in is first out. */
export type Line = 'commands' | 'messages';

export type Command = (string | number)[];

/** A command that the process has sent, and that has not reached the server. */
export interface Pending {
  id: number;
  /** The number of the server. */
  server: number;
  line: Line;
  command: Command;
  /** The sale that has sent it, where one has. */
  sale?: string | undefined;
}

/** Commands that the search can't put back, and why. */
const uncontrolled: [what: string, isMeant: (command: Command) => boolean][] = [
  [', which waits at the server', ([name]) => /^(BL|BR|BZ|WAIT)/.test(String(name))],
  [' with BLOCK, which waits at the server', ([name, ...args]) => /^XREAD/.test(String(name)) && args.some(isBlock)],
  [', which changes its connection', ([name]) => OF_CONNECTIONS.test(String(name))],
  [', which changes what scripts there are', ([name, what]) => isOfScripts(String(name), String(what))],
  [' to several channels at once', ([name, ...channels]) => /SUBSCRIBE$/.test(String(name)) && channels.length !== 1],
];

/** All processes send over one connection, which has no state but its subscriptions. */
const OF_CONNECTIONS =
  /^(AUTH|CLIENT|DISCARD|EXEC|HELLO|MONITOR|MULTI|QUIT|RESET|SELECT|UNWATCH|WATCH|[PS]U?N?SUBSCRIBE)$/;
const isBlock = (arg: string | number) => /^block$/i.test(String(arg));
const isOfScripts = (name: string, what: string) =>
  /^(FUNCTION|FCALL)/.test(name) || (name === 'SCRIPT' && !/^(load|exists)$/i.test(what));

export type Commands = ReturnType<typeof createCommands>;

/** `hasReplicas`: WAIT is sent, and answered. */
export function createCommands(moment: Moment, hasReplicas: boolean) {
  const pending: (Pending & { settle(reply: Reply): void })[] = [];

  function refuseUncontrolled(command: Command) {
    const reason = uncontrolled.find(([, isMeant]) => isMeant(command))?.[0];
    if (reason && !(hasReplicas && command[0] === 'WAIT')) moment.refuse(`the command ${command[0]}${reason}`);
    const odd = command.find((part) => typeof part !== 'string' && typeof part !== 'number');
    if (odd !== undefined)
      moment.refuse(`${typeof odd === 'object' ? 'an' : 'a'} ${typeof odd} as a part of the command ${command[0]}`);
  }

  return {
    send(server: number, command: Command, line: Line): Promise<Reply> {
      refuseUncontrolled(command);
      const id = moment.nextId();
      const { sale } = moment;
      return new Promise((resolve, reject) => {
        const settle = (reply: Reply) =>
          reply instanceof ReplyError
            ? reject(Object.assign(new Error(reply.message), { name: reply.name }))
            : resolve(reply);
        pending.push({ id, server, line, command, sale, settle });
      });
    },
    reply(id: number, reply: Reply) {
      const at = pending.findIndex((command) => command.id === id);
      const [command] = pending.splice(at, 1);
      moment.sale = command?.sale;
      command?.settle(reply);
    },
    /** What has not reached its server, of those that were sent after this one. */
    pending: (after = 0): Pending[] => pending.filter(({ id }) => id > after).map(({ settle: _, ...rest }) => rest),
  };
}
