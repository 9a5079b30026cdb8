/**
 * Reads what a client sends to Redis, just far enough to know where each command begins, ends, and what it is called.
 * A request is an array of bulk strings (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`) or one line of words (`PING\r\n`), as in
 * https://redis.io/docs/latest/develop/reference/protocol-spec/. What is valid here is what `networking.c` of Redis 7
 * takes, no more and no less strict: everything else passes as it came.
 */

/** As in Redis: no line of a request, and no command given as a line, is longer. */
const LINE_LIMIT = 64 * 1024;
/** As in Redis: no argument is longer. */
const ARGUMENT_LIMIT = 512 * 1024 * 1024;
/** As in Redis: no command has more arguments. */
const COUNT_LIMIT = 2 ** 31 - 1;
/** A longer first argument is no command's name and a longer second one no script of ours. */
const HEAD_LIMIT = 64 * 1024;

const ASTERISK = 42;
const DOLLAR = 36;
const CR = 13;
const LF = 10;

export interface RequestEvents {
  /** A command's name is known, upper-case; of EVAL and EVALSHA also the argument that follows. True: give it as a whole. */
  isWanted(name: string, script: string | undefined): boolean;
  /** Bytes to pass on: any part of any number of commands. */
  onBytes(bytes: Buffer): void;
  /** A wanted command is complete: its arguments, the name first, and its bytes. */
  onWanted(args: Buffer[], bytes: Buffer): void;
  /** This is no request that Redis would take. It and all that follows comes out of `onBytes`. */
  onInvalid(): void;
}

/** Every byte put in comes out once and in order, those of an unfinished line or name when more of it has come. */
export function readRequests({ isWanted, onBytes, onWanted, onInvalid }: RequestEvents) {
  /** The start of a line or a name that has not come in full. */
  let unread: Buffer | undefined;
  /** Of the command being read: arguments to come, and bytes to come of the one that has begun, its line end included. */
  let argsLeft = 0;
  let bytesLeft = 0;
  /** The wanted command so far. */
  let wanted: Buffer[] | undefined;
  let isInvalid = false;

  function read(chunk: Buffer) {
    if (isInvalid) return onBytes(chunk);
    const bytes = unread === undefined ? chunk : Buffer.concat([unread, chunk]);
    unread = undefined;
    let at = 0;
    // The first byte that has not been given out or kept.
    let from = 0;

    while (at < bytes.length) {
      if (bytesLeft > 0) {
        const step = Math.min(bytesLeft, bytes.length - at);
        at += step;
        bytesLeft -= step;
        if (bytesLeft === 0) argsLeft -= 1;
      } else if (argsLeft > 0) {
        const line = readNumber(bytes, at, DOLLAR);
        if (line === 'incomplete') break;
        if (line === 'invalid' || !isArgumentLength(line.value)) return giveUp(bytes.subarray(from));
        at = line.end;
        bytesLeft = line.value + 2;
      } else {
        const head = readHead(bytes, at);
        if (head === 'incomplete') break;
        if (head === 'invalid') return giveUp(bytes.subarray(from));
        if (head.name !== undefined && isWanted(head.name, head.script)) {
          if (at > from) onBytes(bytes.subarray(from, at));
          from = at;
          wanted = [];
        }
        ({ argsLeft, bytesLeft, end: at } = head);
      }
      if (wanted !== undefined && argsLeft === 0 && bytesLeft === 0) {
        const whole = Buffer.concat([...wanted, bytes.subarray(from, at)]);
        wanted = undefined;
        from = at;
        onWanted(argumentsOf(whole), whole);
      }
    }

    if (at < bytes.length) unread = bytes.subarray(at);
    if (at === from) return;
    if (wanted === undefined) onBytes(bytes.subarray(from, at));
    else wanted.push(bytes.subarray(from, at));
  }

  /** Gives out what is left of a command that will not be finished. */
  function end() {
    const rest = [...(wanted ?? []), ...(unread ? [unread] : [])];
    wanted = undefined;
    unread = undefined;
    if (rest.length > 0) onBytes(Buffer.concat(rest));
  }

  function giveUp(rest: Buffer) {
    isInvalid = true;
    end();
    onInvalid();
    onBytes(rest);
  }

  return { read, end };
}

interface Head {
  /** Undefined for an empty command, which Redis skips. */
  name?: string;
  script?: string | undefined;
  argsLeft: number;
  bytesLeft: number;
  end: number;
}

/** Reads a command up to the end of its name, of EVAL and EVALSHA up to the end of the argument that follows. */
function readHead(bytes: Buffer, start: number): Head | 'incomplete' | 'invalid' {
  if (bytes[start] !== ASTERISK) return readInline(bytes, start);
  const count = readNumber(bytes, start, ASTERISK);
  if (typeof count === 'string') return count;
  if (count.value > COUNT_LIMIT) return 'invalid';
  if (count.value <= 0) return { argsLeft: 0, bytesLeft: 0, end: count.end };

  const first = readNumber(bytes, count.end, DOLLAR);
  if (typeof first === 'string') return first;
  if (!isArgumentLength(first.value)) return 'invalid';
  if (first.value > HEAD_LIMIT) {
    return { name: '', argsLeft: count.value, bytesLeft: first.value + 2, end: first.end };
  }
  const nameEnd = first.end + first.value + 2;
  if (nameEnd > bytes.length) return 'incomplete';
  const name = bytes.toString('latin1', first.end, first.end + first.value).toUpperCase();
  const head = { name, argsLeft: count.value - 1, bytesLeft: 0, end: nameEnd };
  if (!/^EVAL(SHA)?(_RO)?$/.test(name) || count.value === 1) return head;

  const second = readNumber(bytes, nameEnd, DOLLAR);
  if (typeof second === 'string') return second;
  if (!isArgumentLength(second.value)) return 'invalid';
  if (second.value > HEAD_LIMIT) return { ...head, bytesLeft: second.value + 2, end: second.end };
  const scriptEnd = second.end + second.value + 2;
  if (scriptEnd > bytes.length) return 'incomplete';
  const script = bytes.toString('utf8', second.end, second.end + second.value);
  return { name, script, argsLeft: count.value - 2, bytesLeft: 0, end: scriptEnd };
}

function readInline(bytes: Buffer, start: number): Head | 'incomplete' | 'invalid' {
  const newline = bytes.indexOf(LF, start);
  if ((newline === -1 ? bytes.length : newline) - start > LINE_LIMIT) return 'invalid';
  if (newline === -1) return 'incomplete';
  const [name, script] = wordsOf(bytes.subarray(start, newline)).map(String);
  const end = { argsLeft: 0, bytesLeft: 0, end: newline + 1 };
  return name === undefined ? end : { ...end, name: name.toUpperCase(), script };
}

/** Reads a line such as `$12\r\n`. A minus sign is allowed, a plus sign and leading zeros are not. */
function readNumber(bytes: Buffer, start: number, mark: number) {
  const lineEnd = bytes.indexOf(CR, start);
  if (lineEnd === -1) return bytes.length - start > LINE_LIMIT ? 'invalid' : 'incomplete';
  // Redis does not look at the byte after the CR, but waits for it.
  if (lineEnd + 2 > bytes.length) return 'incomplete';
  const isNegative = bytes[start + 1] === 45;
  const digits = start + (isNegative ? 2 : 1);
  if (bytes[start] !== mark || digits === lineEnd || lineEnd - digits > 10) return 'invalid';
  if (bytes[digits] === 48 && (isNegative || lineEnd - digits > 1)) return 'invalid';
  let value = 0;
  for (let at = digits; at < lineEnd; at += 1) {
    const digit = (bytes[at] as number) - 48;
    if (digit < 0 || digit > 9) return 'invalid';
    value = value * 10 + digit;
  }
  return { value: isNegative ? -value : value, end: lineEnd + 2 };
}

function isArgumentLength(value: number) {
  return value >= 0 && value <= ARGUMENT_LIMIT;
}

/** The arguments of a complete and valid command, the name first. */
function argumentsOf(bytes: Buffer): Buffer[] {
  if (bytes[0] !== ASTERISK) return wordsOf(bytes);
  const args: Buffer[] = [];
  let at = bytes.indexOf(LF) + 1;
  while (at < bytes.length) {
    const line = readNumber(bytes, at, DOLLAR) as { value: number; end: number };
    args.push(bytes.subarray(line.end, line.end + line.value));
    at = line.end + line.value + 2;
  }
  return args;
}

/** The words of an inline command. Quotes have no meaning here: they matter to nobody but Redis. */
function wordsOf(line: Buffer): Buffer[] {
  const words = line
    .toString('latin1')
    .split(/[ \t\n\v\f\r]+/)
    .filter(Boolean);
  return words.map((word) => Buffer.from(word, 'latin1'));
}
