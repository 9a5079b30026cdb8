// Real servers for the tests of the service: nodes and a Redis of their own on free ports, gone when the file has run.

import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, vi } from 'vitest';
import type { ShownState } from '../../../services/inventory/admin/contract.ts';
import { type Problem, type ProblemCode, problems } from '../../../services/inventory/problem.ts';
import type { SaleEvent, SaleScript } from '../../../services/inventory/sale/contract.ts';
import { serviceArgs } from '../../../stack/bundle.ts';
import { makeTempDir, type Part, retryOnTakenPort, startPart } from '../../../stack/parts.ts';
import { freePort } from '../../../stack/ports.ts';
import { type Link, openLink } from '../../../stack/proxy/link.ts';
import { openRedis } from '../../../stack/redis.ts';
import { cleanUpLater } from '../../clean-up.ts';

export interface TestRedis {
  url: string;
  port: number;
  /** A connection of the test's own; its commands wait for Redis when it is away. */
  client: Redis;
  /** Redis stops answering without ending, as on a frozen machine. */
  freeze(): void;
  kill(): Promise<void>;
  /** Answers again after freeze(). After kill() a new, empty server starts on the same port. */
  comeBack(): Promise<void>;
}

export async function startRedis(): Promise<TestRedis> {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  const { url, part: first, startAgain } = await openRedis(undefined, { dir: temp.dir });
  if (first === undefined || startAgain === undefined) throw new Error('The tests need a Redis of their own.');
  let part = first;
  let isKilled = false;
  const port = Number(new URL(url).port);
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  cleanUpLater(async () => {
    client.disconnect();
    await part.stop();
  });
  return {
    url,
    port,
    client,
    freeze: () => part.signal('SIGSTOP'),
    async kill() {
      isKilled = true;
      part.signal('SIGKILL');
      await part.ended;
    },
    async comeBack() {
      if (isKilled) part = await startAgain();
      else part.signal('SIGCONT');
      isKilled = false;
    },
  };
}

/** A link to the Redis for one test, closed when the test has ended. */
export async function startLink(redisUrl: string): Promise<Link> {
  const link = await openLink(redisUrl);
  onTestFinished(link.close);
  return link;
}

export interface TestNode {
  name: string;
  url: string;
  port: number;
  labPort: number;
  part: Part;
  /** Every line that the node has printed. */
  lines: string[];
  sell(sku: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
  lab(method: string, path: string, body?: unknown): Promise<Answer>;
  state(): Promise<ShownState>;
  events(): Promise<SaleEvent[]>;
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a node with a lab listener, and waits until it reaches Redis. Of the environment only `env` reaches it. It runs the file
 * `service`, or the inventory service.
 */
export async function startNode(redisUrl: string, env: NodeJS.ProcessEnv = {}, service?: string): Promise<TestNode> {
  const node = await startNodeAlone(redisUrl, env, service);
  await until('the node reaches Redis', async () => (await node.get('/readyz')).status === 200);
  return node;
}

/** Starts a node with a lab listener, also where it does not reach Redis. Of the environment only `env` reaches it. */
export function startNodeAlone(redisUrl: string, env: NodeJS.ProcessEnv = {}, service?: string): Promise<TestNode> {
  return retryOnTakenPort(async () => startOn(await freePort(), await freePort(), redisUrl, env, service));
}

async function startOn(
  port: number,
  labPort: number,
  redisUrl: string,
  env: NodeJS.ProcessEnv,
  service?: string,
): Promise<TestNode> {
  const name = `node-at-${port}`;
  const url = `http://127.0.0.1:${port}`;
  const lab = (method: string, path: string, body?: unknown) =>
    ask(`http://127.0.0.1:${labPort}${path}`, { method, ...(body !== undefined && jsonBody(body)) });
  const lines: string[] = [];
  const part = await startPart({
    name,
    command: process.execPath,
    args: await serviceArgs(env, service),
    env: {
      PATH: process.env.PATH,
      REDIS_URL: redisUrl,
      PORT: String(port),
      NODE_NAME: name,
      LAB_PORT: String(labPort),
      // No wait ends because a lease does: a lock that nobody gives up does not pass for one that was.
      LEASE_MS: String(5 * HANGS_MS),
      DRAIN_MS: '0',
      ...env,
    },
    addresses: [{ port }, { port: labPort }],
    isReady: async (pid) =>
      (env['LAB_PORT'] === '' || (await lab('GET', '/state')).body.pid === pid) && (await fetch(`${url}/healthz`)).ok,
    onLine: (line) => lines.push(line),
  });
  cleanUpLater(part.stop);
  return {
    name,
    url,
    port,
    labPort,
    part,
    lines,
    sell: (sku) => ask(`${url}/inventory/sale?sku=${sku}`, { method: 'POST' }),
    get: (path) => ask(`${url}${path}`),
    lab,
    state: async () => (await lab('GET', '/state')).body as unknown as ShownState,
    events: async () => (await lab('GET', '/history')).body.events as SaleEvent[],
    signal: part.signal,
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed body; empty when it is not JSON. */
  body: Record<string, unknown>;
  text: string;
}

/** Sends the request and reads its whole answer. */
export async function ask(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : {}, text };
}

export function jsonBody(body: unknown): RequestInit {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** Writes `text` to the port; resolves with what came back by when the other side closed, or `until` was read. */
export function sendRaw(port: number, text: string, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += chunk;
      if (until !== undefined && answer.includes(until)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** Checks that the answer is the problem document of `code`, whole and with nothing else in it. */
export function expectProblem(answer: Answer, code: ProblemCode, { definite = true, detail = /./ } = {}) {
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.body).toStrictEqual({
    title: problems[code].title,
    status: problems[code].status,
    detail: expect.stringMatching(detail),
    code,
    definite,
    ...(code === 'OUT_OF_STOCK' && { outcome: 'sold-out' }),
    // What is no request has none.
    ...('requestId' in answer.body && { requestId: expect.any(String) }),
  } satisfies Partial<Record<keyof Problem, unknown>>);
  expect(answer.status).toBe(problems[code].status);
}

/** How long a test waits for what never comes, in milliseconds. */
const HANGS_MS = 120_000;

/** Resolves when `isTrue` does with true. Rejects with `what` when it never does. */
export async function until(what: string, isTrue: () => Promise<boolean> | boolean) {
  const look = async () => {
    if (!(await isTrue())) throw new Error(`It has not come: ${what}`);
  };
  await vi.waitFor(look, { timeout: HANGS_MS, interval: 5 });
}

type Server = 'Redis' | 'MySQL' | 'ZooKeeper';

/** What the log of the node says of a server, in order: that it is unavailable, or back. */
export const outagesTold = ({ lines }: TestNode, server: Server) =>
  lines.flatMap((line) => new RegExp(`"${server} is (unavailable|back)"`).exec(line)?.slice(1) ?? []);

/** What it says besides, when it only listens and has told each outage, and its end. */
export function linesBesideOutages(node: TestNode) {
  for (const server of ['Redis', 'MySQL', 'ZooKeeper'] as const) {
    const told = outagesTold(node, server);
    expect(told).toEqual(told.map((_, at) => (at % 2 === 0 ? 'unavailable' : 'back')));
  }
  return node.lines.filter((line) => !/"listening"| is (unavailable|back)"/.test(line));
}

/** Starts a sale, and resolves when it is held where its script says, inside if nothing is said. No other one may be held on the node. */
export async function startHeldSale(
  node: TestNode,
  sku: string,
  key?: string,
  script: SaleScript = { untilResumed: true },
) {
  await node.lab('PUT', '/next-sale', script);
  const init = { method: 'POST', ...(key && { headers: { 'idempotency-key': key } }) };
  const answer = ask(`${node.url}/inventory/sale?sku=${sku}`, init);
  answer.catch(() => {});
  const resume = () => node.lab('PUT', '/resume');
  // A test that fails leaves none held, which the next one would take for its own.
  onTestFinished(async () => void (await resume().catch(() => {})));
  await until('the sale is held', async () => (await node.state()).held === 1);
  return { answer, resume };
}

/** Redis refuses every write until this is called, or until the test has ended. */
export async function refuseWrites(client: Redis): Promise<() => Promise<unknown>> {
  const allow = () => client.config('SET', 'min-replicas-to-write', 0);
  onTestFinished(async () => void (await allow()));
  await client.config('SET', 'min-replicas-to-write', 1);
  return allow;
}
