// A counterexample as numbered steps.

import { verbOf } from '../virtual/scripts.ts';
import { type Reply, ReplyError } from '../virtual/valkey.ts';
import type { Step } from './state.ts';

export const nameOfReply = (reply: Reply) => (reply instanceof ReplyError ? reply.message : JSON.stringify(reply));

/** A command as people read it: a script by its name, its keys and its arguments. */
export function readable(command: (string | number)[], master?: number): string {
  if (master !== undefined && master > 0) return `${readable(command)} at master ${master}`;
  const [name, , count, ...rest] = command;
  if (!/^EVAL/.test(String(name))) return command.join(' ');
  // Redis refuses a script when the number of its keys is missing.
  const isCounted = Number.isInteger(Number(count));
  const keys = isCounted ? rest.slice(0, Number(count)) : [];
  const args = isCounted ? rest.slice(Number(count)) : [count ?? '', ...rest];
  const how = [...(name === 'EVAL' ? ['sent in full'] : []), ...(isCounted ? [] : ['without the number of its keys'])];
  const of = [
    ...(keys.length > 0 ? [`of ${keys.join(', ')}`] : []),
    ...(args.length > 0 ? [`with ${args.join(', ')}`] : []),
  ];
  const sent = [verbOf(command), ...how].join(', ');
  return of.length === 0 ? sent : `${sent}${how.length > 0 ? ',' : ''} ${of.join(' ')}`;
}

const tells: Record<Step['told'][number]['step'], (told: Step['told'][number]) => string> = {
  entered: ({ bucket }) => (bucket === undefined ? 'is inside' : `is inside of bucket ${bucket}`),
  nested: () => 'has its own lock once more',
  read: ({ stock }) => (stock === undefined ? 'has read every stock' : `has read stock ${stock}`),
  wrote: ({ stock }) => (stock === undefined ? 'has written every stock' : `has written stock ${stock}`),
  'put back': ({ stock }) => `has put a unit back: stock ${stock}`,
  'sold out': () => 'finds it sold out',
  left: () => 'leaves',
  'waits again': () => 'looks again',
  released: () => 'has given the lock up',
  failed: ({ why }) => `fails: ${why}`,
};

/** What came of a step, as a clause without its subject: `has read stock 10`. */
export const tell = (told: Step['told'][number]) => tells[told.step](told);

/** A line for each step: its number, its time, who, what, the reply, and what came of it. */
export function numbered(steps: Step[]): string[] {
  const width = String(steps.length).length;
  return steps.map(({ at, process, command, reply, told }, index) => {
    const number = String(index + 1).padStart(width);
    const came = told.map(tell).join(', ');
    const answer = reply === undefined ? '' : ` → ${reply}`;
    return `${number}. ${String(at).padStart(5)} ms  ${process} ${command}${answer}${came ? `: ${process} ${came}` : ''}`;
  });
}
