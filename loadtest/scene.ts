import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { staysOf } from './checker.ts';
import type { LockTiming, SaleEvent, SaleScript } from './lab-client.ts';
import { readAnswer, type SaleAnswer } from './load.ts';
import type { Target, TargetNode } from './target.ts';

/** How often the harness looks whether a step has happened, in milliseconds. */
const LOOK_MS = 5;
/** How long a step may take that no lock delays, in milliseconds. */
const STEP_LIMIT_MS = 5_000;
/** How long the sales of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 15_000;
const RETRY_DELAY_MS = 10;
const WAIT_TIMEOUT_MS = 10_000;

/** Milliseconds on the monotonic clock that all processes of this host share: the clock of the nodes' events. */
export const sharedClock = () => Number(process.hrtime.bigint()) / 1e6;

/** A step that a drill needs did not happen, or the numbers do not add up: the verdict is `unknown`. */
export class NotStagedError extends Error {}

/** How a single sale ended, as its client saw it. */
export type SaleEnd = (SaleAnswer | { outcome: 'cutOff' }) & { ms: number };

export interface RunningSale {
  node: string;
  end: Promise<SaleEnd>;
  /** The client hangs up. */
  hangUp(): void;
}

/** What a drill leaves behind. */
export interface SceneOutcome {
  ends: SaleEnd[];
  initialStock: number;
  finalStock: number;
  events: SaleEvent[];
}

export interface SceneOptions {
  target: Target;
  stage: string;
  timing: LockTiming & { leaseMs: number };
  stock: number;
  /** Told each step, with the milliseconds since the drill began; the drill goes on when it resolves. */
  tell: (sentence: string, atMs: number) => Promise<void>;
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Two nodes, ready for a drill that goes step by step: the lock and the stock are set, nothing is left of before. */
export async function openScene({ target, stage, timing, stock, tell }: SceneOptions) {
  const { nodes } = target;
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('A drill needs two nodes.');
  const sales: RunningSale[] = [];
  const killed = new Set<TargetNode>();
  let remembered: SaleEvent[] = [];
  const startedAt = performance.now();

  for (const node of nodes) {
    await node.setLock(stage, { retryDelayMs: RETRY_DELAY_MS, waitTimeoutMs: WAIT_TIMEOUT_MS, ...timing });
    await node.reset();
  }
  await first.clear();
  await first.setStock(stock);

  const live = () => nodes.filter((node) => !killed.has(node));

  /** Events of all nodes, those of killed ones included, in order. */
  async function events(): Promise<SaleEvent[]> {
    const histories = await Promise.all(live().map((node) => node.history()));
    return [...remembered, ...histories.flatMap((history) => history.events)].sort((a, b) => a.at - b.at);
  }

  /** Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed. */
  async function waitFor<T>(look: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const found = await look();
      if (found !== undefined || performance.now() > deadline) return found;
      await sleep(LOOK_MS);
    }
  }

  /** Resolves with undefined when sales are still in flight after the limit. */
  const allEnded = () =>
    waitFor(async () => {
      const states = await Promise.all(live().map((node) => node.state()));
      return states.every(({ inFlight }) => inFlight === 0) || undefined;
    }, SETTLE_LIMIT_MS);

  /** Sends one sale straight to a node, on a connection of its own. */
  function sell(node: TargetNode): RunningSale {
    const sale = sendSale(node);
    sales.push(sale);
    return sale;
  }

  /** Sends a sale that follows the script, and resolves when it is inside. Throws NotStagedError. */
  async function sellInside(node: TargetNode, script: SaleScript): Promise<RunningSale & { saleId: string }> {
    const before = new Set((await node.history()).events.map(({ saleId }) => saleId));
    await node.script(script);
    const sale = sell(node);
    const own = await waitFor(async () => {
      const { events } = await node.history();
      const saleId = events.find((event) => event.type === 'read' && !before.has(event.saleId))?.saleId;
      return saleId === undefined ? undefined : { saleId, events: events.filter((event) => event.saleId === saleId) };
    }, STEP_LIMIT_MS);
    if (own === undefined || own.events.some(({ type }) => type === 'left')) {
      throw new NotStagedError(`The sale on ${node.name} did not stay inside.`);
    }
    return { ...sale, saleId: own.saleId };
  }

  /** A process of our own, to pause or to kill. Throws NotStagedError for a node of somebody else's stack. */
  function processOf(node: TargetNode) {
    if (node.process === undefined) throw new NotStagedError(`${node.name} is not a process of this run.`);
    return node.process;
  }

  /** Kills a node as a crash would. Its events so far are kept. */
  async function kill(node: TargetNode) {
    const process = processOf(node);
    const history = await node.history();
    killed.add(node);
    remembered = [...remembered, ...history.events];
    await process.kill();
  }

  /** Waits until every sale has ended, and resolves with what is left. Throws NotStagedError when some never end. */
  async function outcome(): Promise<SceneOutcome> {
    const ends = await Promise.all(sales.map(({ end }) => end));
    if (!(await allEnded())) throw new NotStagedError('Sales were still in flight at the end.');
    const finalStock = await live()[0]?.stock();
    if (finalStock === undefined) throw new NotStagedError('The final stock could not be read.');
    return { ends, initialStock: stock, finalStock, events: await events() };
  }

  /** Brings the stack back to what it was: every process runs, nobody is inside, no key is left. */
  async function close() {
    for (const sale of sales) sale.hangUp();
    for (const node of live()) node.process?.signal('SIGCONT');
    for (const node of killed) await node.process?.start();
    killed.clear();
    for (const node of nodes) await node.goOn();
    await allEnded();
    for (const node of nodes) {
      await node.setLock(stage);
      await node.reset();
    }
    await first?.clear();
  }

  return {
    stage,
    leaseMs: timing.leaseMs,
    first,
    second,
    say: (sentence: string) => tell(sentence, performance.now() - startedAt),
    sell,
    sellInside,
    processOf,
    kill,
    events,
    stays: async () => staysOf(await events()),
    waitFor,
    outcome,
    close,
  };
}

function sendSale(node: TargetNode): RunningSale {
  const startedAt = performance.now();
  const gone = new AbortController();
  const end = new Promise<SaleEnd>((resolve) => {
    const finish = (end: SaleAnswer | { outcome: 'cutOff' }) => resolve({ ...end, ms: performance.now() - startedAt });
    const url = new URL('/inventory/sale', node.publicUrl);
    const outgoing = request(url, { method: 'POST', agent: false, signal: gone.signal }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => finish(readAnswer(answer.statusCode ?? 0, body)));
      answer.on('error', () => finish({ outcome: 'cutOff' }));
    });
    outgoing.on('error', () => finish({ outcome: 'cutOff' })).end();
  });
  return { node: node.name, end, hangUp: () => gone.abort() };
}
