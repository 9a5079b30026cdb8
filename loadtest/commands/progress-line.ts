// One line that tells how far a long run has come, and is written over.

export interface ProgressLine {
  /** One more is done. */
  advance(name: string): void;
  /** Takes the line away. */
  end(): void;
}

/** A line on a terminal that counts up to `total`; nothing elsewhere. */
export function startProgressLine(total: number, out: NodeJS.WriteStream = process.stderr): ProgressLine {
  let done = 0;
  const write = (line: string) => void (out.isTTY && out.write(`\r\x1b[K${line}`));
  return {
    advance(name) {
      done += 1;
      write(`${done} of ${total}  ${name}`);
    },
    end: () => write(''),
  };
}
