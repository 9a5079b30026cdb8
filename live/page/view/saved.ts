// What the browser keeps of one's work: the locks, and which exercises are solved. Where it keeps nothing, neither does the page.

const KEY = 'lockstep';

interface Saved {
  /** The texts, by the exercise or stage that one began with. */
  texts: Record<string, string>;
  solved: string[];
}

export function readSaved(): Saved {
  try {
    return { texts: {}, solved: [], ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return { texts: {}, solved: [] };
  }
}

export function save(saved: Saved) {
  try {
    localStorage.setItem(KEY, JSON.stringify(saved));
  } catch {
    // It is full, or not allowed.
  }
}
