// "You are the scheduler": the real lock file on the search's engine, without servers. One level is open at a time.

import type { PuzzleOrder, PuzzleView } from '../puzzle-contract.ts';
import { prepareThreads } from './puzzle/ask.ts';
import { type Level, levelNamed, levels } from './puzzle/levels.ts';
import { type OpenPuzzle, openPuzzle } from './puzzle/play.ts';
import { Refusal } from './refusal.ts';

export type Puzzle = ReturnType<typeof createPuzzle>;

/** `onChange` is called when something is to be seen anew. */
export function createPuzzle({ onChange }: { onChange: () => void }) {
  const choices = levels.map(({ choice }) => choice);
  let opening: Level | undefined;
  let open: OpenPuzzle | undefined;
  let trouble: string | null = null;
  // What goes wrong here goes wrong again when a level is opened, and is shown then.
  let work: Promise<unknown> = prepareThreads().catch(() => {});

  function openLevel(name: string) {
    const level = levelNamed(name);
    if (level === undefined) throw new Refusal(400, 'NO_SUCH_LEVEL', `There is no level ${name}.`);
    closeLevel();
    trouble = null;
    opening = level;
    const before = work;
    work = before.then(() => start(level));
    onChange();
  }

  async function start(level: Level) {
    // Another one was chosen meanwhile.
    if (opening !== level) return;
    try {
      const opened = await openPuzzle(level, { onChange, onTrouble: (error) => fail(level, error) });
      if (opening !== level) return await opened.close();
      open = opened;
      opening = undefined;
    } catch (error) {
      fail(level, error as Error);
    }
    onChange();
  }

  function fail({ choice }: Level, error: Error) {
    trouble = `${choice.title} can't be played: ${error.message}.`;
    closeLevel();
    onChange();
  }

  function closeLevel() {
    const closing = open?.close();
    open = undefined;
    opening = undefined;
    work = Promise.all([work, closing]);
  }

  return {
    read: (): PuzzleView => ({
      levels: choices,
      opening: opening?.choice.name ?? null,
      game: open?.read() ?? null,
      trouble,
    }),
    /** Carries out an order. Throws Refusal when it does not fit. */
    order(order: PuzzleOrder) {
      if (order.do === 'open') return openLevel(order.level);
      if (order.do === 'close') {
        closeLevel();
        return onChange();
      }
      if (open === undefined) throw new Refusal(409, 'NO_LEVEL', 'No level is open.');
      open.order(order);
    },
    /** Resolves when no order is being carried out, and the search has said what it knows. */
    async settled() {
      await work;
      await open?.settled();
    },
    /** Ends the threads. */
    async close() {
      closeLevel();
      await work;
    },
  };
}
