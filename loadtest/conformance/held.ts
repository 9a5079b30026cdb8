// Holds a command on the way to Redis, on each connection of a process.

import { redisOptions } from '../../services/inventory/servers/redis-client.ts';
import type { Place, ReadCommand, VirtualProxy } from '../../simulation/proxy.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { STEP_LIMIT_MS, type Story } from './outcome.ts';
import type { Servers } from './servers.ts';

/** How long a process takes at most to reconnect, in milliseconds. */
const BACK_MS = 2 * redisOptions.retryStrategy();

/** How a command fails. */
export const failures = ['command', 'reply', 'error'] as const;
export type Failure = (typeof failures)[number];

/** True for a command that a client sends to connect or to subscribe: it is not a step of a lock. */
export const isNoStep = ({ name }: ReadCommand) =>
  /^(HELLO|AUTH|SELECT|CLIENT|INFO|PING|QUIT|COMMAND|SCRIPT|[PS]?(UN)?SUBSCRIBE)$/.test(name);

/** Holds a command on each connection: the first from now on that `isMeant`, after `skipped` others. */
export function holdOn(
  lines: VirtualProxy[],
  { story, servers }: { story: Story; servers: Servers },
  skipped: number,
  isMeant: (command: ReadCommand) => boolean,
) {
  const places: Place[] = [];
  let arrive: (command: ReadCommand) => void = () => {};
  const arrived = new Promise<ReadCommand>((resolve) => {
    arrive = resolve;
  });
  const forgets = lines.map((proxy) => {
    let left = skipped;
    return proxy.hold({
      isMeant: (command) => isMeant(command) && left-- <= 0,
      arrive(command, place) {
        if (places.push(place) === lines.length) arrive(command);
      },
    });
  });
  const forget = () => {
    for (const each of forgets) each();
  };
  function letGo() {
    for (const place of places) place.letGo();
  }

  /** Resolves with the command when it waits on each line; undefined when it does not come in time. */
  async function comes(limitMs = STEP_LIMIT_MS): Promise<ReadCommand | undefined> {
    const end = await story.endOf(arrived, limitMs);
    if (end.how === 'done') return arrived;
    forget();
    letGo();
  }

  /** As `comes`. Rejects with NotStagedError when it does not. */
  async function mustCome(limitMs = STEP_LIMIT_MS): Promise<ReadCommand> {
    const command = await comes(limitMs);
    if (command === undefined) throw new NotStagedError(`Command ${skipped + 1} was not sent.`);
    return command;
  }

  return {
    comes,
    mustCome,
    /** As `mustCome`: says `when` it came. Resolves with its name. */
    async waits(when: string, limitMs = STEP_LIMIT_MS): Promise<string> {
      const { name } = await mustCome(limitMs);
      story.say(`${when}, and its ${name} is held on the way`);
      return name;
    },
    letGo,
    /** The command fails, and Redis is back at once. Resolves, when the process has connected again, with what failed: a clause. */
    async fail(how: Failure, ofWhat: string): Promise<string> {
      const { name } = await mustCome();
      forget();
      if (how === 'error') servers.refuseWrites(true);
      if (how !== 'command') letGo();
      if (how === 'error') servers.refuseWrites(false);
      else for (const line of lines) line.cut('reset');
      await story.pass(1);
      for (const line of lines) line.restore();
      await story.pass(BACK_MS);
      const said = {
        command: `the ${name} of ${ofWhat} never arrived`,
        reply: `the reply to the ${name} of ${ofWhat} was lost`,
        error: `the ${name} of ${ofWhat} failed with an error`,
      }[how];
      story.say(`${said}, and Redis is back`);
      return said.replace(/^t/, 'T');
    },
  };
}
