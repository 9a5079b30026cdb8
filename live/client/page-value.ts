// The values that the page is drawn from: when one has changed, the page is drawn anew. What stays the same preact leaves alone.

export interface PageValue<Kind> {
  value: Kind;
}

let draw = () => {};
let isDue = false;

/** A value of the page, with which it begins. */
export function pageValue<Kind>(first: Kind): PageValue<Kind> {
  let now = first;
  return {
    get value() {
      return now;
    },
    set value(next) {
      if (next === now) return;
      now = next;
      drawSoon();
    },
  };
}

/** Values that change together are drawn together. */
function drawSoon() {
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    draw();
  });
}

/** Draws the page now, and whenever a value has changed. */
export function drawWith(drawPage: () => void) {
  draw = drawPage;
  draw();
}
