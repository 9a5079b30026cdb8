// How far something has to be scrolled.

/** Returns where a window of this height begins once it shows the stretch. It moves as little as possible. */
export function scrolledTo(
  { top, height }: { top: number; height: number },
  stretch: { from: number; until: number },
): number {
  if (stretch.from < top) return Math.max(0, stretch.from);
  return stretch.until > top + height ? Math.max(0, Math.min(stretch.from, stretch.until - height)) : top;
}
