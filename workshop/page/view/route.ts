// The place in the page, as its address: #/4?lang=zh&side=before&at=7. So Back works, and a shared link shows the same view.

import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** The lesson's step or the view: `4`, `turn`. And what is open in it: `break`, or the name of an exercise. */
  view: string;
  part?: string | undefined;
  lang?: string | undefined;
  side?: string | undefined;
  at?: string | undefined;
  /** The token that allows watching and playing on this page's server. It is never shared. */
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

/** The route, and a function to change it. `isNew`: adds an entry to the history. */
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

/** The address of the current view, to share. */
export const addressOf = (route: Route) => `${location.href.split('#')[0]}${hashOf({ ...route, token: undefined })}`;
