// One line that tells how far a long run has come, and is written over.

import { either } from '../narration/spoken.ts';

/** Writes the line on a terminal, in the place of the last one; an empty text takes it away. Writes nothing elsewhere. */
export function openLine(out: NodeJS.WriteStream = process.stderr): (text: string) => void {
  return (text) => void (out.isTTY && out.write(`\r\x1b[K${text}`));
}

/** A line that counts up to `total`. */
export function startProgressLine(total: number) {
  const write = openLine();
  let done = 0;
  return {
    /** One more is done. Takes the line away when it is the last. */
    advance(name: string) {
      done += 1;
      write(either(`${done} of ${total}  ${name}`, `${done} / ${total}  ${name}`));
      if (done === total) write('');
    },
    /** Takes the line away. */
    end: () => write(''),
  };
}
