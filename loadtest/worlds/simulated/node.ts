// A simulated node as a node of the harness: its admin API, and its process.

import type { Lab } from '../../../simulation/lab.ts';
import type { Service } from '../../../simulation/service.ts';
import type { Link } from '../../../stack/proxy/link.ts';
import { isLate, LateAnswerError, type OnPush, type TargetNode } from '../../harness/target.ts';
import type { Harness } from './driver.ts';

/** How long the admin API may take to respond, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;
/** How long a question takes to its node, and the answer back, in milliseconds. */
const WAY_MS = 0.1;
const SKU = '001';

export interface TargetNodeOptions {
  lab: Lab;
  harness: Harness;
  index: number;
  /** What it reaches its Redis and then its masters through. */
  links: Link[];
}

export function targetNodeOf({ lab, harness, index, links }: TargetNodeOptions): TargetNode {
  const { name } = lab.node(index);
  const [link, ...masterLinks] = links;

  /** Asks the admin API of the node that runs now. Rejects when it is dead, or late. */
  function ask<T>(act: (service: Service) => T | Promise<T>, limitMs = ANSWER_LIMIT_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      harness.after(limitMs, () => isOver || reject(new LateAnswerError(`${name} got no response.`)));
      const answer = (end: () => void) =>
        harness.after(WAY_MS, () => {
          isOver = true;
          end();
        });
      lab.schedule.after(WAY_MS, () => {
        const node = lab.node(index);
        if (node.isDead()) return harness.take(() => reject(new Error(`${name} does not respond.`)));
        node.take(() => {
          Promise.resolve()
            .then(() => act(node.service))
            .then(
              (result) => answer(() => resolve(result)),
              (error) => answer(() => reject(error)),
            );
        });
      });
    });
  }
  /** Those who follow it begin anew with each of its processes. */
  const followers = new Set<() => void>();

  function follow(onPush: OnPush) {
    let unwatch = () => {};
    function begin() {
      unwatch();
      const { history, state } = lab.node(index).service;
      let cursor: number | undefined;
      let isFirst = true;
      const tell = () => {
        const { next, ...news } = history.read(cursor);
        const first = isFirst;
        [cursor, isFirst] = [next, false];
        // What a node records while it computes is told when it has done so.
        const lateMs = Math.max(0, (news.events.at(-1)?.at ?? 0) - lab.now());
        const push = { at: lab.now(), ...news, state: state() };
        harness.after(WAY_MS + lateMs, () => onPush(push, first));
      };
      unwatch = history.watch(tell);
      tell();
    }
    followers.add(begin);
    begin();
    return {
      close() {
        followers.delete(begin);
        unwatch();
      },
    };
  }

  const absent = async () => {
    throw new Error('A simulated node writes no orders, and has no heap of its own.');
  };

  return {
    name,
    publicUrl: `http://${name}`,
    labUrl: `http://${name}:1`,
    process: {
      signal(signal) {
        if (signal === 'SIGSTOP') lab.node(index).stop();
        else lab.node(index).resume();
      },
      async kill() {
        lab.kill(index);
      },
      async start() {
        lab.revive(index);
        for (const begin of followers) begin();
        // As a real one, which is started when it has its servers.
        while (!lab.node(index).service.isReady()) await harness.clock.sleep(1);
      },
    },
    runClock(rate) {
      const node = lab.node(index);
      node.runClock(rate);
      return node.ownTime;
    },
    ...(link && { link }),
    masterLinks,
    backendLinks: {},
    state: () => ask(({ state }) => ({ ...state(), answering: 0, standstills: [...lab.node(index).standstills] })),
    isSilentFor: (limitMs) => isLate(ask(() => {}, limitMs)),
    setLock: (version, timing) => ask(({ setLock }) => setLock(version, timing)),
    script: (script) => ask(({ scriptNextSales }) => scriptNextSales(script)),
    resume: () => ask(({ resume }) => resume()),
    reset: () => ask(({ reset }) => reset()),
    follow,
    history: () => ask(({ history }) => history.read()),
    // Over the connection that the sales use.
    redis: () =>
      ask(async ({ redis, lacks }) => {
        await redis.ping();
        return {
          version: '9.1.1',
          server: 'valkey',
          masters: 1,
          commandsProcessed: lab.redis.heard.length,
          lacks: await lacks(),
        };
      }),
    stock: (sku = SKU) => ask(({ stock }) => stock().readStock(sku)),
    setStock: (stock, sku = SKU) => ask((service) => service.stock().writeStock(sku, stock)),
    clear: (sku = SKU) => ask(({ clear }) => clear(sku)),
    heap: absent,
    setGuard: absent,
    scriptTick: absent,
    tick: absent,
    ticks: absent,
    setSchedule: absent,
    report: absent,
  };
}
