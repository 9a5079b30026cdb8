// One stack as an audience sees it: what its watch says, the drill, its story and its verdict.

import type { DrillOutcome } from '../../loadtest/harness/drill.ts';
import type { Observe } from '../../loadtest/harness/observed.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { stageTitle } from '../../loadtest/report/story.ts';
import { taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import type { Part, Sentence, StackView, VerdictView } from '../contract.ts';
import { observeTarget } from './observed-target.ts';
import { ownParts, takesLock } from './own-parts.ts';
import { watchStack } from './watch.ts';

/** How many witnesses the page names. */
const SHOWN_WITNESSES = 3;

export interface BoardOptions {
  target: Target;
  stage: string;
  /** The drill that is to be played; null in free play. */
  drill: string | null;
  /** Called when the view may have changed. */
  onChange: () => void;
}

export interface Board {
  /** This stack, to be broken: what is done to it here is seen. */
  target: Target;
  /** For the context of the drill. */
  observe: Observe;
  view(): StackView;
  /** All parts of the stack, also those that the stage does not use. */
  parts(): Part[];
  /** Adds a sentence to the story. */
  tell(sentence: Sentence): void;
  /** The step that waited for the presenter goes on. */
  goesOn(atMs: number): void;
  /** The drill is over, and this came of it. */
  ended(outcome: DrillOutcome): void;
  /** The drill was stopped, and nothing came of it. */
  stopped(): void;
  /** Watches no more. What was seen stays to be seen. */
  close(): void;
}

/** Watches the stack until the board is closed. */
export function openBoard({ target, stage, drill, onChange }: BoardOptions): Board {
  const closing = new AbortController();
  const observed = observeTarget(target, () => watch.changed());
  const watch = watchStack({
    target: observed.target,
    observed,
    stage,
    keepsEnd: drill !== null,
    signal: closing.signal,
    onChange,
  });
  const title = stageTitle(stage);
  let story: Sentence[] = [];
  let verdict: VerdictView | null = null;

  return {
    target: observed.target,
    observe: watch.observe,
    view() {
      const seen = watch.view();
      return { ...seen, ...ownParts(stage, seen), hasLock: takesLock(stage), title, drill, story, verdict };
    },
    parts: observed.parts,
    tell(sentence) {
      story = [...story, sentence];
      onChange();
    },
    goesOn(waitedUntilMs) {
      story = story.map((told) => (told.waitedUntilMs === null ? { ...told, waitedUntilMs } : told));
      onChange();
    },
    ended(outcome) {
      watch.ended(outcome);
      if (drill !== null) verdict = verdictOf(stage, drill, outcome);
      onChange();
    },
    stopped: watch.stopped,
    close: () => closing.abort(),
  };
}

function verdictOf(stage: string, drill: string, { verdict, reasons, witnesses }: DrillOutcome): VerdictView {
  return { verdict, taught: taughtVerdict(stage, drill), reasons, witnesses: witnesses.slice(0, SHOWN_WITNESSES) };
}
