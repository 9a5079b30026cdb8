// Node modules of which the simulation uses one function each.

/** node:events: a page counts no listeners. */
export const setMaxListeners = () => {};

/** node:perf_hooks: in simulated time no machine is too busy. */
export const monitorEventLoopDelay = () => ({ enable() {}, disable() {}, max: 0 });

/** node:url */
export const fileURLToPath = (place: URL | string) => decodeURI(new URL(place).pathname);

/** node:path */
export const join = (...parts: string[]) => parts.join('/').replace(/\/{2,}/g, '/');
export const dirname = (path: string) => path.replace(/\/[^/]*\/?$/, '');
export const basename = (path: string, end = '') => path.replace(/.*\//, '').replace(end, '');
export const isAbsolute = (path: string) => path.startsWith('/');

/** node:net */
export const isIP = (host: string) => (host.includes(':') ? 6 : /^[\d.]+$/.test(host) ? 4 : 0);

/** node:util: for plain values with a fixed member order. */
export const isDeepStrictEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
