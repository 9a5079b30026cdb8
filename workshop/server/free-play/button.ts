// A button of free play, and which of them are on.

import type { Target } from '../../../loadtest/harness/target.ts';
import type { TestBed } from '../../../loadtest/harness/test-bed.ts';
import type { Deed } from '../../../loadtest/narration/faults.ts';
import type { StepSentence } from '../../../loadtest/narration/steps.ts';
import type { Act } from '../../page/protocol.ts';
import type { Sales } from './sales.ts';

export type Undo = () => unknown;

/** What it does, and what undoes it again. */
export interface Button {
  act: Act;
  at?: string;
  whyNot?: string | undefined;
  /** What the timeline calls it; absent where it breaks nothing. */
  fault?: Deed;
  /** What is said when it is pressed, and when it is undone. One that begins a sale is given its letter. */
  says: StepSentence | ((sale: string) => StepSentence);
  saysUndone?: StepSentence;
  /** Does it. Resolves with what undoes it, if it lasts. */
  press(sale: string): Undo | undefined | Promise<Undo | undefined>;
}

/** What the buttons act on. */
export interface Played {
  target: Target;
  stage: string;
  leaseMs: number;
  testBed: TestBed;
  sales: Sales;
  switches: Switches;
  /** Called when a button has changed. */
  onChange(): void;
}

export type Switches = ReturnType<typeof createSwitches>;

export function createSwitches() {
  /** What undoes a button that is on. */
  const on = new Map<Button, Undo>();
  const find = (act: Act, at: string) => [...on.keys()].find((button) => button.act === act && button.at === at);
  return {
    has: (button: Button) => on.has(button),
    isOn: (act: Act, at: string) => find(act, at) !== undefined,
    turnOn: (button: Button, undo: Undo) => void on.set(button, undo),
    /** It is off, and was not undone: something else has done that. */
    forget(act: Act, at: string) {
      const button = find(act, at);
      if (button) on.delete(button);
    },
    /** A button that is on until it is undone is off even when that fails: what can't be undone alone is undone with all. */
    async undo(button: Button) {
      try {
        await on.get(button)?.();
      } finally {
        on.delete(button);
      }
    },
    /** Undoes them all, the last one first. */
    async undoAll() {
      try {
        for (const undo of [...on.values()].reverse()) await undo();
      } finally {
        on.clear();
      }
    },
  };
}
