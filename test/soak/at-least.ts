/**
 * The least that a wait may measure, in milliseconds: Node counts a timer from the beginning of the event loop's turn, so it
 * ends a little early by any other clock.
 */
export const atLeast = (waitMs: number) => 0.95 * waitMs;
