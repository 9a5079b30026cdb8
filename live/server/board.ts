// One stack as an audience sees it: what its watch says, the drill, its story and its verdict.

import type { DrillResult } from '../../loadtest/evidence/results.ts';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import type { Observe } from '../../loadtest/harness/observed.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { stageTitle } from '../../loadtest/report/story.ts';
import type { Part, Sentence, StackView, VerdictView } from '../contract.ts';
import { createEndedLease } from './ended-lease.ts';
import { observeTarget } from './observed-target.ts';
import { locksOf, ownParts } from './own-parts.ts';
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
  /** So many buyers of a rush got no answer. */
  unanswered(count: number): void;
  /** The step that waited for the presenter goes on. */
  goesOn(atMs: number): void;
  /** The drill is over, and this came of it. */
  ended(outcome: DrillResult): void;
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
    onChange() {
      tellEndedLease();
      onChange();
    },
  });
  const title = stageTitle(stage);
  let story: Sentence[] = [];
  const lease = createEndedLease(sharedClock);
  /** Since when a step waits, on the shared clock. */
  let waitsSince = 0;
  let verdict: VerdictView | null = null;

  /** The step that waits speaks of a lock that may be gone by now. */
  function tellEndedLease() {
    const text = lease.look(watch.view());
    if (text === undefined) return;
    const { atMs = 0 } = story.find(({ waitedUntilMs }) => waitedUntilMs === null) ?? {};
    story = [...story, { atMs: atMs + sharedClock() - waitsSince, text, isStep: false }];
  }

  return {
    target: observed.target,
    observe: watch.observe,
    view() {
      const seen = watch.view();
      return { ...seen, ...ownParts(stage, seen), ...locksOf(stage), title, drill, story, verdict };
    },
    parts: observed.parts,
    tell(sentence) {
      story = [...story, sentence];
      if (sentence.waitedUntilMs === null) {
        waitsSince = sharedClock();
        lease.begin();
      }
      onChange();
    },
    goesOn(waitedUntilMs) {
      lease.end();
      story = story.map((told) => (told.waitedUntilMs === null ? { ...told, waitedUntilMs } : told));
      onChange();
    },
    ended(outcome) {
      watch.ended(outcome);
      if (drill !== null) verdict = verdictOf(outcome);
      onChange();
    },
    unanswered: watch.unanswered,
    stopped() {
      lease.end();
      watch.stopped();
    },
    close: () => closing.abort(),
  };
}

function verdictOf({ verdict, taught, reasons, witnesses }: DrillResult): VerdictView {
  return { verdict, taught, reasons, witnesses: witnesses.slice(0, SHOWN_WITNESSES) };
}
