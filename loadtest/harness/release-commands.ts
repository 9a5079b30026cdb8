// The commands by which a lock is given up: known of a lock of ours, found out of an external one by looking at a sale.

import type { Command } from '../../scripts/link/link.ts';
import { fenceKey, lockKey, stockKey } from '../../services/inventory/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { isExternal } from '../staircase/lookup.ts';
import { isRelease, isStockWrite } from './commands.ts';
import type { TestBed } from './test-bed.ts';

/** How many commands of one release are held, each in turn. */
const MOST_COMMANDS = 6;
/** How long a sale may take that nobody keeps waiting, in milliseconds. */
const SALE_LIMIT_MS = 5_000;
const SKU = '001';

/** What puts something into Redis that others see: of a lock, its key or what goes with it. */
const writes = new Set(['SET', 'SETNX', 'SETEX', 'PSETEX', 'GETSET', 'HSET', 'HSETNX', 'ZADD', 'LPUSH', 'RPUSH']);
const isWrite = ({ name }: Command) => writes.has(name) || /^(EVAL|FCALL)/.test(name);
/** What says where a connection listens changes nothing that others see. */
const isSubscription = ({ name }: Command) => /SUBSCRIBE$/.test(name);

/** One command of a release, and what knows it among those that a node sends. */
export interface ReleaseCommand {
  /** Its name in Redis, such as `DEL`. Absent for a lock of ours, which has one. */
  name?: string;
  /** Makes what says true to it once: of a node that sells and gives the lock up, and has not written yet. */
  createMeant(): (command: Command) => boolean;
}

export interface Release {
  /** In the order in which they are sent. None for a lock that sends no command with its key. */
  commands: ReleaseCommand[];
  /** How many more there are than are held. */
  more: number;
  /** A key that the lock uses and that does not have the given one in its name. */
  otherKey?: string;
}

/**
 * The commands by which a holder on the first node gives its lock up. For those of an external lock it sells there, and looks.
 * Throws NotStagedError when that sale does not take place.
 */
export async function findRelease(testBed: TestBed): Promise<Release> {
  if (!isExternal(testBed.stage)) return { commands: [{ createMeant: () => isRelease }], more: 0 };
  const { first, second, stage } = testBed;
  const key = lockKey(SKU, stage);
  const watch = testBed.watchCommands(first);
  // Redis is sent the text of a script once: what the second sale sends every other will send.
  for (let sale = 0; sale < 2; sale += 1) {
    watch.commands.splice(0);
    const { outcome } = await testBed.sellWithin(first, SALE_LIMIT_MS);
    if (outcome !== 'sold') throw new NotStagedError(`A sale on ${first.name} that nobody disturbs was not sold.`);
  }
  // What frees the lock has been sent when another has it, also what is sent after the answer.
  await testBed.sellWithin(second, SALE_LIMIT_MS);
  watch.end();

  const { commands: seen } = watch;
  const isOurs = ({ args }: Command) => args.some((arg) => arg === stockKey(SKU) || arg === fenceKey(SKU));
  const hasKey = ({ args }: Command) => args.some((arg) => arg.includes(key));
  const other = seen.find((command) => isWrite(command) && !hasKey(command) && !isOurs(command));
  const released = seen
    .slice(seen.findIndex(isStockWrite) + 1)
    .filter((command) => hasKey(command) && !isOurs(command) && !isSubscription(command));
  const commands = released.map((command, index) => {
    const before = released.slice(0, index).filter((earlier) => kindOf(earlier) === kindOf(command)).length;
    return { name: command.name, createMeant: () => afterWrite(key, kindOf(command), before) };
  });
  return {
    commands: commands.slice(0, MOST_COMMANDS),
    more: Math.max(0, commands.length - MOST_COMMANDS),
    ...(other !== undefined && { otherKey: keyOf(other) }),
  };
}

/** True to the command of this kind that names the key, after the stock write and after so many of its kind. */
function afterWrite(key: string, kind: string, before: number): (command: Command) => boolean {
  let hasWritten = false;
  let seen = 0;
  return (command) => {
    if (isStockWrite(command)) hasWritten = true;
    else if (hasWritten && kindOf(command) === kind && command.args.some((arg) => arg.includes(key))) {
      seen += 1;
      return seen > before;
    }
    return false;
  };
}

/** Its name, and which script it runs. */
const kindOf = ({ name, args }: Command) => (/^(EVAL|FCALL)/.test(name) ? `${name} ${args[0]}` : name);

/** The first key of a command. */
const keyOf = ({ name, args }: Command) => (/^(EVAL|FCALL)/.test(name) ? args[2] : args[0]) ?? '';
