// The lines of a stack as they are: each link is wrapped, so that what is done to it is seen.

import type { Held, Link } from '../../scripts/link/link.ts';
import type { Line } from '../contract.ts';

/** A line, and what was done to it. */
interface ObservedLine {
  from: string;
  /** The server that it led to at first. */
  server: string;
  /** Where it leads now, if it was moved. */
  movedTo?: string;
  isCut: boolean;
  delayMs: number;
  /** The commands that are held on it, the oldest first. */
  held: { name: string }[];
}

export interface ObservedLines {
  /** The link, which does what it did before, as a line from one part to another. */
  see(link: Link, from: string, server: string): Link;
  /** A line that there is no link on: it is always open. */
  draw(from: string, server: string): void;
  /** All lines. `nameOf` knows the part at a URL. */
  read(nameOf: (url: string) => string | undefined): Line[];
}

/** Calls `onChange` after each change of a line. */
export function observeLines(onChange: () => void): ObservedLines {
  const lines: ObservedLine[] = [];

  function add(from: string, server: string): ObservedLine {
    const line: ObservedLine = { from, server, isCut: false, delayMs: 0, held: [] };
    lines.push(line);
    return line;
  }

  return {
    draw: (from, server) => void add(from, server),
    see: (link, from, server) => seeLink(link, add(from, server), onChange),
    read: (nameOf) =>
      lines.map(({ from, server, movedTo, isCut, delayMs, held }) => {
        const to = (movedTo === undefined ? undefined : nameOf(movedTo)) ?? server;
        const is = isCut ? 'cut' : delayMs > 0 ? 'slow' : 'open';
        return { from, to, is, ...(held[0] && { held: held[0].name }) };
      }),
  };
}

function seeLink(link: Link, line: ObservedLine, onChange: () => void): Link {
  function change(changed: Partial<ObservedLine>) {
    Object.assign(line, changed);
    onChange();
  }

  /** What is held counts from its arrival until it is let go or dropped. */
  function seeHeld(held: Held): Held {
    let command: { name: string } | undefined;
    let isOver = false;
    held.arrived.then(
      ({ name, script = name }) => {
        if (isOver) return;
        command = { name: script };
        change({ held: [...line.held, command] });
      },
      () => {},
    );
    const over = () => {
      isOver = true;
      if (command !== undefined) change({ held: line.held.filter((one) => one !== command) });
      command = undefined;
    };
    return {
      ...held,
      letGo() {
        const reached = held.letGo();
        over();
        return reached;
      },
      drop() {
        held.drop();
        over();
      },
    };
  }

  return {
    ...link,
    holdNext: (meant) => seeHeld(link.holdNext(meant)),
    delayReplies(ms) {
      link.delayReplies(ms);
      change({ delayMs: ms });
    },
    cut(how) {
      link.cut(how);
      change({ isCut: true });
    },
    restore() {
      link.restore();
      change({ isCut: false });
    },
    moveTo(url) {
      link.moveTo(url);
      // All connections have ended, and what was held on them.
      change({ movedTo: url, held: [] });
    },
  };
}
