// The values of the page: what the server has sent, and what the presenter has chosen to see.

import type { Timeline } from '../../loadtest/evidence/results.ts';
import type { Message, Order } from '../contract.ts';
import { type Choice, chooseStage, playedChoice, stageBefore } from './choice.ts';
import { becomeFollower, follower } from './own-vote.ts';
import { type PageValue, pageValue } from './page-value.ts';
import { applyMessage, canBegin, nothingShown, playKey, type Shown } from './state.ts';
import type { LineState } from './stream.ts';
import { eventBeside, eventsOf } from './timeline-events.ts';

export type Tab = 'free' | 'predict' | 'story' | 'code' | 'figures';

/** What the presenter reads in a view. */
export interface Reading {
  tab: PageValue<Tab>;
  /** The event under the marker, by its key, or the lane whose story is told. One of them at the most. */
  event: PageValue<string | undefined>;
  lane: PageValue<number | undefined>;
}

export const shown = pageValue<Shown>(nothingShown);
export const line = pageValue<LineState>('connecting');
/** Why the last order was not followed: a sentence. */
export const orderTrouble = pageValue<string | null>(null);
export const choice = pageValue<Choice>({ stage: '', drill: '' });
export const isBeside = pageValue(false);
/** The presenter plays the scheduler, and sees no stack. */
export const isScheduling = pageValue(false);
/** The workshop is shown in place of the stack, if one runs. */
export const isAtWorkshop = pageValue(false);
/** The page is shown from a file: nobody is there to be asked for anything. */
export const isSaved = pageValue(false);
/** The moment of a saved run that is seen, in milliseconds since it began. */
export const moment = pageValue(0);
/** The time on the clock on which the page notes what it has seen: that of a saved run stands still when the run does. */
export const pageClock = () => (isSaved.value ? moment.value : performance.now());
/** This page is that of a follower, or of a file: it looks on. */
export const isLookingOn = () => isSaved.value || follower.value !== null;
/** The view whose timeline the arrow keys move in. */
export const activeView = pageValue(0);

const reading = (): Reading => ({
  tab: pageValue<Tab>('story'),
  event: pageValue<string | undefined>(undefined),
  lane: pageValue<number | undefined>(undefined),
});
const readings = [reading(), reading()] as const;

/** The place of the first view that is seen: of two stages the later one alone while the room is asked, and when they are not to be compared. */
export function firstSeen(): number {
  const { play, views } = shown.value;
  const isFolded = readings[0].tab.value === 'predict' || (canBegin(play) && !isBeside.value);
  return isFolded && !isLookingOn() ? views.length - 1 : 0;
}

/** What is read in a view, by its place. */
export function readingOf(view: number): Reading {
  return view === 0 ? readings[0] : readings[1];
}

/** Takes in a message of the server. What was read of another drill is closed. */
export function receive(message: Message) {
  if (message.type === 'follower') return becomeFollower(message.id);
  const before = shown.value;
  const after = applyMessage(before, message, pageClock());
  shown.value = after;
  readings.forEach((own, i) => {
    const [old, now] = [before.views[i], after.views[i]];
    const isSame = old?.stage === now?.stage && old?.drill === now?.drill && now?.timeline != null;
    if (!isSame) closeReading(own);
  });
  // A workshop that begins while nothing is played is what there is to see. What is played takes its place.
  const isIdle = canBegin(after.play) || after.views.length === 0;
  if (before.workshop === null && after.workshop !== null && isIdle) isAtWorkshop.value = true;
  if (canBegin(before.play) && !canBegin(after.play)) isAtWorkshop.value = false;
  // Its buttons come and go with free play.
  const { tab } = readings[0];
  if (before.controls === null && after.controls !== null) tab.value = 'free';
  if (after.controls === null && tab.value === 'free') tab.value = 'story';
  // A question that a step brings is to be seen.
  const isPlayed = after.play.is === 'playing' || after.play.is === 'waiting';
  const number = after.room?.question?.number;
  if (isPlayed && number !== undefined && number !== before.room?.question?.number) tab.value = 'predict';
  const isKnown = after.choices.some(({ name }) => name === choice.value.stage);
  const isNewPlay = after.views.length > 0 && namesIn(after) !== namesIn(before);
  if (!isKnown || isNewPlay) {
    // Free play has no drill: the one that was chosen stays.
    const views = after.views.map(({ stage, drill }) => ({ stage, drill: drill ?? choice.value.drill }));
    choice.value = playedChoice(after.choices, views);
  }
}

/** What is played, to tell one play from the next. */
function namesIn({ views }: Shown): string {
  return views.map(({ stage, drill }) => playKey(stage, drill ?? '')).join();
}

function closeReading({ event, lane }: Reading) {
  event.value = undefined;
  lane.value = undefined;
}

export function pickStage(stage: string) {
  choice.value = chooseStage(shown.value.choices, stage, choice.value.drill);
}

export function pickDrill(drill: string) {
  choice.value = { ...choice.value, drill };
}

/** The order that plays what is chosen. */
export function playOrder(isStepwise: boolean): Order {
  const { stage, drill } = choice.value;
  const against = isBeside.value ? stageBefore(shown.value.choices, choice.value) : undefined;
  return { do: 'play', stage, drill, isStepwise, ...(against !== undefined && { against }) };
}

/** The timeline that is seen in a view. */
export function timelineIn(view: number): Timeline | null {
  return shown.value.views[view]?.timeline ?? null;
}

/** Moves the marker of a view to the next event, or to the one before. */
export function moveMarker(view: number, step: 1 | -1) {
  const timeline = timelineIn(view);
  if (timeline === null) return;
  const own = readingOf(view);
  own.lane.value = undefined;
  own.event.value = eventBeside(eventsOf(timeline), own.event.value, step)?.key;
}

/** Tells the story of the next sale in a view, or of the one before. */
export function moveLane(view: number, step: 1 | -1) {
  const count = timelineIn(view)?.lanes.length ?? 0;
  if (count === 0) return;
  const own = readingOf(view);
  const place = own.lane.value ?? (step > 0 ? -1 : count);
  own.event.value = undefined;
  own.lane.value = Math.min(Math.max(0, place + step), count - 1);
}
