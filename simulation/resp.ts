// Parses the commands that a client sends to Redis. Each is an array of bulk strings: *2\r\n$3\r\nGET\r\n$1\r\nk\r\n
// https://redis.io/docs/latest/develop/reference/protocol-spec/

/** A mark, ten digits and the line end: no line of a command is longer. */
const LINE_LIMIT = 13;
const ASTERISK = 42;
const DOLLAR = 36;
const CR = 13;
const LF = 10;

/** A client has sent something that is not an array of bulk strings. */
export class NotACommand extends Error {}

/**
 * Returns a function that takes what has come, split anywhere, and calls `onCommand` for each command that is complete: with
 * its arguments, the name first, and its bytes. It throws NotACommand, and must then be given nothing more.
 */
export function readCommands(onCommand: (args: Buffer[], bytes: Buffer) => void): (chunk: Buffer) => void {
  /** The start of a command, and how long it is at least. */
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let neededBytes = 0;

  return (chunk) => {
    kept.push(chunk);
    keptBytes += chunk.length;
    if (keptBytes < neededBytes) return;
    const bytes = kept.length === 1 ? chunk : Buffer.concat(kept);
    let at = 0;
    let command = readCommand(bytes, at);
    while ('args' in command) {
      onCommand(command.args, bytes.subarray(at, command.end));
      at = command.end;
      command = readCommand(bytes, at);
    }
    neededBytes = command.end - at;
    keptBytes = bytes.length - at;
    kept = keptBytes > 0 ? [bytes.subarray(at)] : [];
  };
}

/** The command at `start`, or, without its arguments, up to where there must be more of it. */
function readCommand(bytes: Buffer, start: number): { args: Buffer[]; end: number } | { end: number } {
  const more = { end: bytes.length + 1 };
  const count = readNumber(bytes, start, ASTERISK);
  if (count === undefined) return more;
  if (count.value === 0) throw new NotACommand('an array is empty');
  const args: Buffer[] = [];
  let at = count.end;
  while (args.length < count.value) {
    const length = readNumber(bytes, at, DOLLAR);
    if (length === undefined) return more;
    const argEnd = length.end + length.value;
    at = argEnd + 2;
    if (at > bytes.length) return { end: at };
    if (bytes[argEnd] !== CR || bytes[argEnd + 1] !== LF) throw new NotACommand('a string is longer than its length');
    args.push(bytes.subarray(length.end, argEnd));
  }
  return { args, end: at };
}

/** The number in a line such as `$12\r\n`; undefined when the line is incomplete. */
function readNumber(bytes: Buffer, start: number, mark: number) {
  if (start === bytes.length) return undefined;
  if (bytes[start] !== mark) throw new NotACommand(`there is no ${String.fromCharCode(mark)} where it must be`);
  const line = bytes.toString('latin1', start + 1, start + LINE_LIMIT);
  const [match, digits] = /^(\d{1,10})\r\n/.exec(line) ?? [];
  if (match !== undefined) return { value: Number(digits), end: start + 1 + match.length };
  if (!/^\d{0,10}\r?$/.test(line)) throw new NotACommand('a length is not a number');
  return undefined;
}
