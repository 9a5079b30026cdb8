// Error messages for unknown names.

/** A name is similar if at most this many letters differ. */
const MOST_CHANGES = 3;
/** The shortest part of a name that suggests the whole name. */
const SHORTEST_PART = 3;
const MOST_NAMED = 4;
/** The number of a stage or an exercise, which is optional. */
const NUMBER = /^\d+-/;

/** `no such drill. Did you mean late-release?`: `said`, then the nearest names, or `allowed` if none is similar. */
export function refusalOf(
  said: string,
  typed: string,
  names: readonly string[],
  allowed = `one of ${names.join(', ')}`,
): string {
  const near = nearestTo(typed, names);
  if (near.length === 0) return `${said}: it must be ${allowed}`;
  const last = near.at(-1);
  return `${said}. Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${last}` : last}?`;
}

/** The names with the fewest differences, or those that contain the typed part. Empty if none is similar. */
function nearestTo(typed: string, names: readonly string[]): string[] {
  const word = typed.trim().toLowerCase();
  const spelled = names.flatMap((name) => [name, name.replace(NUMBER, '')].map((spelling) => ({ name, spelling })));
  const near = spelled
    .map(({ name, spelling }) => ({ name, changes: changesBetween(word, spelling), letters: spelling.length }))
    .filter(({ changes, letters }) => changes <= MOST_CHANGES && changes < Math.max(word.length, letters) / 2);
  const fewest = Math.min(...near.map(({ changes }) => changes));
  const best = near.filter(({ changes }) => changes === fewest).map(({ name }) => name);
  const whole = best.length > 0 || word.length < SHORTEST_PART ? best : names.filter((name) => name.includes(word));
  return [...new Set(whole)].slice(0, MOST_NAMED);
}

/** The Levenshtein distance: how many letters to insert, delete or replace to turn one word into the other. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, above] of row.slice(1).entries()) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(above + 1, (next[j] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
