// Parses the replies that Redis sends to a client, in RESP2 and RESP3.
// https://redis.io/docs/latest/develop/reference/protocol-spec/

import type { Returned } from '../../simulation/events.ts';

/** A reply, as it came. */
export interface Reply {
  bytes: Buffer;
  /** Sent without having been asked for, as messages to a subscriber are in RESP3. */
  isPush: boolean;
  /** What it says: a number or a string as it is, `nil`, and several in brackets. */
  text: string;
  /** The same as a value, where Redis has sent it. */
  returned?: Returned;
  /** How many rows a statement of SQL has changed. Absent of an error, and of a result set. */
  changed?: number;
  /** A transaction is open that nobody has committed. */
  isOpen?: boolean;
  /** The first row, by the names of its columns. */
  row?: Map<string, string>;
}

interface Read {
  end: number;
  text: string;
  returned: Returned;
}

/** Returns a function that takes what has come, split anywhere, and calls `onReply` for each reply that is complete. */
export function readReplies(onReply: (reply: Reply) => void): (chunk: Buffer) => void {
  let kept: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = kept.length > 0 ? Buffer.concat([kept, chunk]) : chunk;
    let at = 0;
    for (let reply = readReply(bytes, at); reply; reply = readReply(bytes, at)) {
      const { end, text, returned } = reply;
      onReply({ bytes: bytes.subarray(at, end), isPush: bytes[at] === PUSH, text, returned });
      at = end;
    }
    kept = bytes.subarray(at);
  };
}

const PUSH = '>'.charCodeAt(0);

/** The reply at `start`. Undefined when it is incomplete. */
function readReply(bytes: Buffer, start: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd === -1) return undefined;
  const mark = String.fromCharCode(bytes[start] ?? 0);
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  if ('$=!'.includes(mark)) return readString(bytes, end, Number(line));
  if ('*~>'.includes(mark)) return readSeveral(bytes, end, Number(line));
  if (mark === '%') return readSeveral(bytes, end, 2 * Number(line));
  if (mark === '|') {
    // What is said of a reply comes before it.
    const said = readSeveral(bytes, end, 2 * Number(line));
    return said && readReply(bytes, said.end);
  }
  if (mark === '_') return { end, text: 'nil', returned: null };
  return { end, text: mark === '-' ? `error ${line}` : line, returned: mark === ':' ? Number(line) : line };
}

function readString(bytes: Buffer, start: number, length: number): Read | undefined {
  if (length < 0) return { end: start, text: 'nil', returned: null };
  const end = start + length + 2;
  if (end > bytes.length) return undefined;
  const text = bytes.toString('utf8', start, start + length);
  return { end, text, returned: text };
}

function readSeveral(bytes: Buffer, start: number, count: number): Read | undefined {
  if (count < 0) return { end: start, text: 'nil', returned: null };
  const all: Read[] = [];
  let end = start;
  while (all.length < count) {
    const read = readReply(bytes, end);
    if (read === undefined) return undefined;
    all.push(read);
    end = read.end;
  }
  return { end, text: `[${all.map(({ text }) => text).join(' ')}]`, returned: all.map(({ returned }) => returned) };
}
