// An adapter is proposed for a package that none is shipped for: packages of a few lines are installed where npm would put them.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { readPublished } from '../../../loadtest/grade/libraries.ts';
import { nameOfAdapter } from '../../../loadtest/grade/propose.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';

/** Its own lock: SET with an end, and a release that looks. */
const TINY = `
const releaseIfOwner = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])";
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let holds = 0;
export class LockTakenError extends Error {}
async function take(redis, key, leaseMs, retries, delayMs) {
  const token = process.pid + ':' + ++holds;
  for (let tries = 0; (await redis.set(key, token, 'PX', leaseMs, 'NX')) !== 'OK'; tries += 1) {
    if (tries >= retries) throw new LockTakenError(key);
    await sleep(delayMs);
  }
  return async () => (await redis.eval(releaseIfOwner, 1, key, token)) === 1;
}
`;

const packages: Record<string, string> = {
  'tiny-lock': `${TINY}
export const createTinyLock = (client, { ttl = 1_000, retries = 0, retryDelay = 50 } = {}) => {
  let leave;
  return {
    async acquire(name) { leave = await take(client, name, ttl, retries, retryDelay); },
    release: () => leave(),
  };
};`,
  '@my/tiny-mutex': `${TINY}
export default class TinyMutex {
  constructor(client, name, options) { Object.assign(this, { client, name, options: { ...options } }); }
  async lock() { this.leave = await take(this.client, 'mutex:' + this.name, this.options.lockTimeout, this.options.maxAttempts - 1, 20); }
  async unlock() { await this.leave(); }
}`,
  'tiny-votes': `${TINY}
export class Votes {
  constructor(clients) { if (!Array.isArray(clients)) throw new TypeError('It takes several clients.'); this.clients = clients; }
  async using(resources, duration, routine) {
    const leave = await take(this.clients[0], resources[0], duration, Infinity, 20);
    try { return await routine(); } finally { await leave(); }
  }
}`,
  'tiny-try': `${TINY}
export const tinyLock = async (client, name, ttl) => take(client, name, ttl, 0, 0).catch(() => null);`,
  'no-lock': 'export const VERSION = 3; export const greet = (name) => "hello " + name;',
  'ends-it': 'export const lock = () => {}; process.exit?.(7);',
};

/** A folder of npm in which the package is, and one that the command is called in. */
function installed(name: string) {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  const modules = join(dir, 'libraries', name.replace('/', '+'), 'node_modules');
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(modules, file)), { recursive: true });
    writeFileSync(join(modules, file), text);
  };
  const manifest = { name, version: '1.2.3', type: 'module', main: 'index.js' };
  write('.package-lock.json', '{}');
  write(`${name}/package.json`, JSON.stringify(manifest));
  write(`${name}/index.js`, packages[name] ?? '');
  mkdirSync(join(dir, 'mine'));
  return { libraries: join(dir, 'libraries'), caller: join(dir, 'mine') };
}

test.each([
  ['tiny-lock', 'createTinyLock(redis, { ttl, retries, retryDelay }), then acquire(key) and release()'],
  ['@my/tiny-mutex', 'new (the default export)(redis, key, { lockTimeout, maxAttempts }), then lock() and unlock()'],
  ['tiny-votes', 'new Votes([redis]), then using([key], leaseMs, a function) until that ends'],
  ['tiny-try', 'tinyLock(redis, key, leaseMs) and a call of its result'],
])('%s: the adapter is a file that can be graded as it is, and that is never written over', async (name, found) => {
  const places = installed(name);
  const file = join(places.caller, nameOfAdapter(name));
  const [grade] = await readPublished(name, places);
  const text = readFileSync(file, 'utf8');

  expect(grade?.problem).toBe('no adapter is shipped for it');
  expect(grade?.proposal).toContain(`Found: ${found}.`);
  expect(grade?.proposal).toContain(`npm run grade -- ./${nameOfAdapter(name)}`);
  expect(text).toContain(`// Found: ${found}.`);
  const facts = { backend: text.includes('masters: true') ? 'masters' : 'redis', isExternal: true } as const;
  const source = { name: 'proposed', file, facts };
  // The votes of `tiny-votes` are those of one master, which `contract-one-try` would say.
  for (const check of name === 'tiny-votes' ? ['contract-enter'] : ['contract-enter', 'contract-one-try'])
    expect(await runCheck(check, source), check).toMatchObject({ verdict: 'pass' });

  writeFileSync(file, 'mine');
  const [again] = await readPublished(name, places);
  expect(again?.proposal).toMatch(/already exists and was not changed/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test.each([
  ['no-lock', /no call acquired a lock in Redis .* It exports VERSION and greet\.\n.*adapter\.ts/],
  ['ends-it', /^ends-it could not be loaded: it ends the process that loads it \(7\)\.\n.*adapter\.ts/],
])('%s: no file is written, and it is said what is known', async (name, says) => {
  const places = installed(name);
  const [grade] = await readPublished(name, places);

  expect(grade?.proposal).toMatch(says);
  expect(readdirSync(places.caller)).toEqual([]);
});
