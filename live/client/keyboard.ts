// The keys that work everywhere on the page: p and s play, space goes on, ← and → move the marker in the timeline.

import { beginOrder, playKeys } from './controls.ts';
import { sendOrder } from './order.ts';
import { canBegin } from './state.ts';
import { activeView, firstSeen, isLookingOn, isScheduling, moveMarker, shown } from './store.ts';

/** What does something of its own with the space bar; a tab does not, because the arrows have chosen it already. */
const TAKES_SPACE = 'button:not([role=tab]), select, input, a, summary';
const TAKES_ARROWS = 'select, input, [role=tab]';

/** Listens for as long as the page lives. */
export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === ' ' && target.closest(TAKES_SPACE) === null) {
      event.preventDefault();
      if (shown.value.play.is === 'waiting' && !event.repeat) void sendOrder({ do: 'next' });
    }
    if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && target.closest(TAKES_ARROWS) === null) {
      event.preventDefault();
      moveMarker(Math.max(activeView.value, firstSeen()), event.key === 'ArrowRight' ? 1 : -1);
    }
    const isStepwise = event.key === playKeys.stepwise;
    const canPlay = !isLookingOn() && !isScheduling.value && canBegin(shown.value.play);
    // A list looks for the letter that is typed.
    if ((isStepwise || event.key === playKeys.play) && canPlay && !event.repeat && target.closest('select') === null) {
      void sendOrder(beginOrder(isStepwise));
    }
  });
}
