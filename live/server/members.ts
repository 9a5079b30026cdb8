// The state of the page as the members that are sent alone, and what has changed between two of them.

import type { LiveState } from '../contract.ts';

/** Each member as JSON, by where it stands in a message: `play`, `views.0.lock`. */
export type Members = Map<string, string>;

export function membersOf({ views, ...rest }: LiveState): Members {
  const own = Object.entries(rest).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const ofViews = views.flatMap((view, place) =>
    Object.entries(view).map(([name, value]) => [`views.${place}.${name}`, JSON.stringify(value)] as const),
  );
  return new Map([...own, ...ofViews]);
}

/**
 * What is new, as a message in JSON: a view of which nothing has changed is empty, one that is gone is null. Undefined when nothing is
 * new.
 */
export function changesBetween(before: Members, now: Members): string | undefined {
  const changed = [...now].filter(([name, json]) => before.get(name) !== json);
  const [viewsBefore, viewsNow] = [viewsIn(before), viewsIn(now)];
  if (changed.length === 0 && viewsBefore === viewsNow) return undefined;
  const views = Array.from({ length: Math.max(viewsBefore, viewsNow) }, (_, place) => {
    if (place >= viewsNow) return 'null';
    const start = `views.${place}.`;
    const own = changed.filter(([name]) => name.startsWith(start));
    return `{${own.map(([name, json]) => memberOf(name.slice(start.length), json)).join()}}`;
  });
  const rest = changed.filter(([name]) => !name.startsWith('views.'));
  const members = rest.map(([name, json]) => memberOf(name, json));
  return `{${['"type":"changed"', ...members, `"views":[${views.join()}]`].join()}}`;
}

const memberOf = (name: string, json: string) => `${JSON.stringify(name)}:${json}`;

function viewsIn(members: Members): number {
  return new Set([...members.keys()].flatMap((name) => /^views\.(\d+)/.exec(name)?.[1] ?? [])).size;
}
