// What the page knows, and how a message from the server changes it.

import type { Control, LiveState, Message, Play, StackView, StageChoice, VerdictView } from '../contract.ts';
import type { WorkshopView } from '../workshop-contract.ts';

/** A view, and when the server last said what its lock is: in milliseconds on the page's clock (`pageClock`). */
export interface SeenView extends StackView {
  lockSeenAtMs: number;
}

export interface Shown {
  choices: StageChoice[];
  play: Play;
  controls: Control[] | null;
  room: LiveState['room'];
  puzzle: LiveState['puzzle'];
  workshop: WorkshopView | null;
  views: SeenView[];
  /** What is taught of the drills that came to a verdict while the page was open, by `playKey`. The others stay a secret. */
  taught: Readonly<Record<string, VerdictView['taught']>>;
}

/** What the page knows before the first message. */
export const nothingShown: Shown = {
  choices: [],
  play: { is: 'starting', trouble: null },
  controls: null,
  room: undefined,
  puzzle: undefined,
  workshop: null,
  views: [],
  taught: {},
};

/** A view of which nothing is known. */
export const emptyView: StackView = {
  stage: '',
  title: '',
  drill: null,
  parts: [],
  lines: [],
  nodes: [],
  hasLock: true,
  lock: null,
  stock: null,
  figures: null,
  story: [],
  timeline: null,
  verdict: null,
};

/** Something may be started. */
export const canBegin = ({ is }: Play) => is === 'ready' || is === 'over';

/** The name of a drill under a stage, among all that can be played. */
export function playKey(stage: string, drill: string): string {
  return `${stage} ${drill}`;
}

/** What the page knows after a message that arrives at `nowMs`. Members that the message leaves out stay as they are. */
export function applyMessage(shown: Shown, message: Message, nowMs: number): Shown {
  if (message.type === 'follower') return shown;
  if (message.type === 'all') {
    const { choices, state } = message;
    const { play, controls, room, puzzle, workshop = null } = state;
    const views = state.views.map((view) => seen(view, nowMs));
    return { choices, play, controls, room, puzzle, workshop, views, taught: withTaught(shown.taught, views) };
  }
  const changes = message.views ?? [];
  const count = Math.max(shown.views.length, changes.length);
  const views = Array.from({ length: count }, (_, index) => changed(shown.views[index], changes[index], nowMs));
  const left = views.filter((view) => view !== undefined);
  const { type: _type, ...members } = message;
  return { ...shown, ...members, views: left, taught: withTaught(shown.taught, left) };
}

/** A view after its changes: null means that it is gone, undefined that nothing has changed. */
function changed(
  view: SeenView | undefined,
  changes: Partial<StackView> | null | undefined,
  nowMs: number,
): SeenView | undefined {
  if (changes === undefined) return view;
  if (changes === null) return undefined;
  const whole = { ...emptyView, ...view, ...changes };
  return changes.lock === undefined ? { ...whole, lockSeenAtMs: view?.lockSeenAtMs ?? nowMs } : seen(whole, nowMs);
}

function seen(view: StackView, nowMs: number): SeenView {
  return { ...view, lockSeenAtMs: nowMs };
}

function withTaught(taught: Shown['taught'], views: StackView[]): Shown['taught'] {
  const settled = views.flatMap(({ stage, drill, verdict }) =>
    drill === null || verdict === null ? [] : [[playKey(stage, drill), verdict.taught] as const],
  );
  return settled.length === 0 ? taught : { ...taught, ...Object.fromEntries(settled) };
}
