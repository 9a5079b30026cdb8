// Prints a counterexample as numbered steps.

import { scriptOf } from '../simulation/scripts.ts';
import { type Reply, ReplyError } from '../simulation/valkey.ts';
import type { Step } from './state.ts';
import { clauseInEnglish, type ReadCommand, readInEnglish, toldInEnglish } from './wording.ts';

export const nameOfReply = (reply: Reply) => (reply instanceof ReplyError ? reply.message : JSON.stringify(reply));

/** A readable command: a script by its name, with its keys and arguments. */
export function asRead(command: (string | number)[]): ReadCommand {
  const [name, , count, ...rest] = command;
  if (!/^EVAL/.test(String(name))) return { words: command.join(' ') };
  const script = scriptOf(command);
  const isCounted = Number.isInteger(Number(count));
  return {
    ...(script !== undefined && { script }),
    isInFull: name === 'EVAL',
    ...(isCounted && { keys: rest.slice(0, Number(count)) }),
    args: isCounted ? rest.slice(Number(count)) : [count ?? '', ...rest],
  };
}

/** A command in English. */
export const readable = (command: (string | number)[]): string => readInEnglish(asRead(command));

/** A line for each step: its number, time, process, command, reply, and results. `line` joins its start and its text. */
export function numbered(steps: Step[], line = (start: string, text: string) => start + text): string[] {
  const width = String(steps.length).length;
  return steps.map(({ at, process, what, reply, told }, index) => {
    const number = String(index + 1).padStart(width);
    const came = told.map(toldInEnglish).join(', ');
    const answer = reply === undefined ? '' : ` → ${reply}`;
    const after = came ? `: ${process} ${came}` : '';
    return line(`${number}. ${String(at).padStart(5)} ms  `, `${process} ${clauseInEnglish(what)}${answer}${after}`);
  });
}
