/** A wrong solution of an exercise that looks right, and what catches it. */
export interface Attempt {
  /** What is tried, as a clause: `sends both commands at once`. */
  what: string;
  /** What it is made of: the lock of the exercise as it is, or its solution. */
  from: 'lock' | 'solution';
  /** The texts that are replaced. Each must occur exactly once. */
  replace: [find: string, by: string][];
  /** The scope of the exercise that catches it; the drill, where real servers judge alone. */
  fails: string;
  /** A part of the reason that the search gives, or the drill. */
  reason?: string;
}
