// Where one is in the page, as its address says it: #/4?lang=zh&side=before&at=7. So Back works, and what is shared is what is seen.

import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** The step of the lesson, or the view: `4`, `turn`. And what is open in it: `break`, the name of an exercise. */
  view: string;
  part?: string | undefined;
  lang?: string | undefined;
  side?: string | undefined;
  at?: string | undefined;
  /** Who has it may see and play on the server of this page. It is never shared. */
  token?: string | undefined;
}

const NAMES = ['lang', 'side', 'at', 'token'] as const;

function routeIn(hash: string): Route {
  // The address that a server prints has its token alone.
  if (!hash.startsWith('#/')) return { view: '0', ...(hash.length > 1 && { token: hash.slice(1) }) };
  const [path = '', asked] = hash.slice(2).split('?');
  const [view = '0', part] = path.split('/');
  const params = new URLSearchParams(asked);
  return { view, part, ...Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? undefined])) };
}

function hashOf({ view, part, ...given }: Route): string {
  const params = NAMES.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  const asked = new URLSearchParams(params).toString();
  return `#/${view}${part === undefined ? '' : `/${part}`}${asked && `?${asked}`}`;
}

export type Go = (change: Partial<Route>, isNew?: boolean) => void;

/** The route, and how one changes it. `isNew`: Back leads to where one was before. */
export function useRoute(): [Route, Go] {
  const [route, setRoute] = useState(() => routeIn(location.hash));
  useEffect(() => {
    const hear = () => setRoute(routeIn(location.hash));
    for (const event of ['popstate', 'hashchange']) addEventListener(event, hear);
    // The address may have changed before anybody listened.
    hear();
    return () => {
      for (const event of ['popstate', 'hashchange']) removeEventListener(event, hear);
    };
  }, []);
  return [
    route,
    (change, isNew = false) =>
      setRoute((before) => {
        const after = { ...before, ...change };
        const hash = hashOf(after);
        if (hash === location.hash) return after;
        if (isNew) history.pushState(null, '', hash);
        else history.replaceState(null, '', hash);
        return after;
      }),
  ];
}

/** The address of what is seen, for somebody else. */
export const addressOf = (route: Route) => `${location.href.split('#')[0]}${hashOf({ ...route, token: undefined })}`;
