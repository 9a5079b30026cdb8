// The buttons of free play, and which of them are on.

import type { Target } from '../../../loadtest/harness/target.ts';
import type { TestBed } from '../../../loadtest/harness/test-bed.ts';
import type { Deed } from '../../../loadtest/narration/faults.ts';
import type { StepSentence } from '../../../loadtest/narration/steps.ts';
import type { Act } from '../../page/protocol.ts';
import type { Sales } from './sales.ts';

export type Undo = () => unknown;

/** What a button does, and how it is undone. */
export interface Button {
  act: Act;
  at?: string;
  whyNot?: string | undefined;
  /** Its name in the timeline; absent if it breaks nothing. */
  fault?: Deed;
  /** What is reported when it is pressed and when it is undone. A button that starts a sale gets the sale's letter. */
  says: StepSentence | ((sale: string) => StepSentence);
  saysUndone?: StepSentence;
  /** Runs the action. Resolves with a function that undoes it, if it lasts. */
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
  /** The undo functions of the buttons that are on. */
  const on = new Map<Button, Undo>();
  const find = (act: Act, at: string) => [...on.keys()].find((button) => button.act === act && button.at === at);
  return {
    has: (button: Button) => on.has(button),
    isOn: (act: Act, at: string) => find(act, at) !== undefined,
    turnOn: (button: Button, undo: Undo) => void on.set(button, undo),
    /** Turns it off without undoing it: something else has done that. */
    forget(act: Act, at: string) {
      const button = find(act, at);
      if (button) on.delete(button);
    },
    /** A button goes off even if undoing it fails: “undo everything” then takes care of it. */
    async undo(button: Button) {
      try {
        await on.get(button)?.();
      } finally {
        on.delete(button);
      }
    },
    /** Undoes all, last one first. */
    async undoAll() {
      try {
        for (const undo of [...on.values()].reverse()) await undo();
      } finally {
        on.clear();
      }
    },
  };
}
