// How far something has to be scrolled.

/** Where a window that shows `height` from `top` on has to be scrolled to show a stretch as well, as little as can be. */
export function scrolledTo(
  { top, height }: { top: number; height: number },
  stretch: { from: number; until: number },
): number {
  if (stretch.from < top) return Math.max(0, stretch.from);
  return stretch.until > top + height ? Math.max(0, Math.min(stretch.from, stretch.until - height)) : top;
}
