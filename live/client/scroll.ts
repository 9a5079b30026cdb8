// How far something has to be scrolled.

/** Returns the scroll position at which the window shows the stretch, as near as possible to where it is now. */
export function scrolledTo(
  { top, height }: { top: number; height: number },
  stretch: { from: number; until: number },
): number {
  if (stretch.from < top) return Math.max(0, stretch.from);
  return stretch.until > top + height ? Math.max(0, Math.min(stretch.from, stretch.until - height)) : top;
}
