// Free play: buttons that sell, hold, break and mend, on the test bed of the drills, and why one would do nothing.

import { NotStagedError } from '../../loadtest/evidence/not-staged.ts';
import type { DrillContext } from '../../loadtest/harness/drill.ts';
import { isRelease, isStockWrite } from '../../loadtest/harness/faults/commands.ts';
import { sendSales } from '../../loadtest/harness/sales.ts';
import type { TargetNode } from '../../loadtest/harness/target.ts';
import { openTestBed } from '../../loadtest/harness/test-bed.ts';
import { type Deed, deed } from '../../loadtest/narration/faults.ts';
import { type StepSentence, told } from '../../loadtest/narration/steps.ts';
import { backendOfRow } from '../../loadtest/staircase/lookup.ts';
import { hasLock, stockOf } from '../../locks/index.ts';
import type { Act, Control } from '../page/messages.ts';
import { Refusal } from './refusal.ts';

/** The units in stock when it begins. */
export const FREE_STOCK = 1_000;
const CONNECTIONS = 20;
/** The sales of a rush. */
const RUSH = 200;
/** How long a request of a rush may take, in milliseconds: longer than a sale waits for its lock. */
const REQUEST_LIMIT_MS = 30_000;
/** For how many leases an event loop is blocked. */
const BLOCKED_LEASES = 2.5;

/** What can't be done to a part that is dead. */
const actsOnLiving: Act[] = ['sell', 'hold-sale', 'kill', 'stop', 'block', 'cut-replica'];
/** What takes an answer of the part: one that stands still gives none. */
const actsOnAwake: Act[] = ['hold-sale', 'kill', 'block', 'cut-replica'];

export interface FreePlayOptions extends Pick<DrillContext, 'target' | 'stage' | 'observe'> {
  leaseMs: number;
  /** Says what was done. */
  narrate: (sentence: StepSentence) => Promise<void>;
  /** Called when a button has changed. */
  onChange: () => void;
}

type Undo = () => unknown;

/** A button: what it does, and what undoes it again. */
interface Button {
  act: Act;
  at?: string;
  whyNot?: string | undefined;
  /** What the timeline calls it; absent where it breaks nothing. */
  fault?: Deed;
  /** What is said when it is pressed, and when it is undone. One that begins a sale is given its letter. */
  says: StepSentence | ((sale: string) => StepSentence);
  saysUndone?: StepSentence;
  /** Does it. Resolves with what undoes it, if it lasts. */
  press(sale: string): Undo | undefined | Promise<Undo | undefined>;
}

export type FreePlay = Awaited<ReturnType<typeof openFreePlay>>;

/** Two nodes under this stage, with a stock, for an audience to break. */
export async function openFreePlay({ target, stage, observe, leaseMs, narrate, onChange }: FreePlayOptions) {
  const ending = new AbortController();
  const { signal } = ending;
  const testBed = await openTestBed({
    ...{ target, stage, timing: { leaseMs }, stock: FREE_STOCK, signal, narrate, ...(observe && { observe }) },
  });
  const rushes = new Set<Promise<unknown>>();
  /** How many sales have a letter. */
  let letters = 0;
  /** What undoes a button that is on. */
  const on = new Map<Button, Undo>();
  /** Those that are being pressed. */
  const busy = new Set<Button>();
  /** The replica that has been cut off. */
  let replica: Awaited<ReturnType<typeof testBed.faults.startReplica>> | undefined;
  /** The nodes are led to the replica, and the first Redis has nothing to do any more. */
  let hasFailedOver = false;
  const buttons = [...target.nodes.flatMap(buttonsOfNode), ...buttonsOfStack()];

  function buttonsOfNode(node: TargetNode): Button[] {
    const at = node.name;
    const { 'node processes': process, links } = target.lacks;
    const hold = (command: 'release' | 'write', isMeant: typeof isRelease, whyNot: string | undefined): Button => ({
      act: `hold-${command}`,
      at,
      says: told(`${command} to be held`, { node: at }),
      saysUndone: told(`${command} let go`, { node: at }),
      whyNot: links ?? whyNot,
      press() {
        const held = testBed.faults.holdNext(node, isMeant);
        let mark: ReturnType<typeof testBed.mark> | undefined;
        const seen = () => {
          mark = testBed.mark(deed('held', { command }), { node });
          onChange();
        };
        void held.arrived.then(seen, () => {});
        return () => {
          mark?.over();
          return held.goOn().catch(() => {});
        };
      },
    });
    return [
      {
        act: 'sell',
        at,
        says: (sale) => told('came', { sale, node: at }),
        press: (sale) => void testBed.sales.sell(node, sale),
      },
      {
        act: 'hold-sale',
        at,
        says: (sale) => told('came to be held', { sale, node: at }),
        saysUndone: told('sale of the node resumed', { node: at }),
        async press(sale) {
          await node.script({ untilResumed: true });
          testBed.sales.sell(node, sale);
          return async () => {
            // It may still wait for the lock, and would be held later.
            await node.script({});
            await node.resume();
          };
        },
      },
      hold('release', isRelease, whyNoRelease(stage)),
      hold('write', isStockWrite, whyNoWrite(stage)),
      {
        act: 'kill',
        at,
        fault: deed('killed'),
        says: told('killed', { node: at }),
        saysUndone: told('started again', { node: at }),
        whyNot: process,
        async press() {
          await testBed.faults.kill(node);
          // What its process was told is forgotten with it.
          turnOff('hold-sale', at);
          return () => testBed.faults.revive(node);
        },
      },
      {
        act: 'stop',
        at,
        fault: deed('stopped'),
        says: told('paused', { node: at }),
        saysUndone: told('process resumed', { node: at }),
        whyNot: process,
        press: () => testBed.faults.pause(node).comeBack,
      },
      {
        act: 'cut',
        at,
        fault: deed('cut off'),
        says: told('cut off from its servers', { node: at }),
        saysUndone: told('reached its servers again', { node: at }),
        whyNot: links,
        press: () => testBed.faults.cutOff(node).restore,
      },
      {
        act: 'block',
        at,
        fault: deed('blocked'),
        says: (sale) => told('came to block', { sale, node: at }),
        async press(sale) {
          await node.script({ blockMs: Math.round(BLOCKED_LEASES * leaseMs) });
          testBed.sales.sell(node, sale);
          return undefined;
        },
      },
    ];
  }

  function buttonsOfStack(): Button[] {
    const process = target.lacks['redis process'] ?? whyNoRedis(stage);
    const replication = target.lacks.replication ?? whyNoRedis(stage);
    return [
      {
        act: 'rush',
        says: told('rush came', { buyers: RUSH }),
        press() {
          const load = { url: target.url, requests: RUSH, connections: CONNECTIONS, requestLimitMs: REQUEST_LIMIT_MS };
          const rush = sendSales(target, { ...load, signal, onAnswer() {} }).finally(() => rushes.delete(rush));
          rushes.add(rush);
          return undefined;
        },
      },
      {
        act: 'stop',
        at: 'redis',
        fault: deed('Redis stopped'),
        says: told('Redis paused'),
        saysUndone: told('Redis resumed'),
        whyNot: process,
        press: async () => (await testBed.faults.stopRedis()).comeBack,
      },
      {
        act: 'kill',
        at: 'redis',
        fault: deed('Redis is killed'),
        says: told('Redis killed'),
        saysUndone: told('Redis restarted'),
        whyNot: process,
        press: async () => (await testBed.faults.killRedis()).comeBack,
      },
      {
        act: 'cut-replica',
        at: 'redis',
        fault: deed('replica cut off'),
        says: told('replica cut off'),
        whyNot: replication,
        async press() {
          replica = await testBed.faults.startReplica();
          await replica.cutLine();
          return undefined;
        },
      },
      {
        act: 'fail-over',
        at: 'redis',
        fault: deed('failover'),
        says: told('replica took over'),
        whyNot: replication,
        async press() {
          if (replica === undefined)
            throw new NotStagedError('Redis has no replica yet: give it one, and cut it off, first.');
          await replica.promote();
          replica = undefined;
          hasFailedOver = true;
          return undefined;
        },
      },
    ];
  }

  function turnOff(act: Act, at: string) {
    for (const button of on.keys()) if (button.act === act && button.at === at) on.delete(button);
  }

  const isOn = (act: Act, at: string) => [...on.keys()].some((button) => button.act === act && button.at === at);

  /** Why a button can do nothing as the stack is now, as a sentence. */
  function whyNotNow({ act, at }: Button): string | undefined {
    if (at === undefined) return undefined;
    if (at === 'redis' && hasFailedOver)
      return 'The nodes use the replica since the failover: undo all leads them back.';
    if (isOn('kill', at) && act !== 'kill' && actsOnLiving.includes(act)) return `${at} is dead: start it first.`;
    if (isOn('stop', at) && actsOnAwake.includes(act)) return `${at} stands still: let it go on first.`;
    return undefined;
  }

  /** Of the sale that comes next. After Z they begin anew, and no lane is drawn. */
  function nextLetter() {
    letters += 1;
    return String.fromCharCode('A'.charCodeAt(0) + ((letters - 1) % 26));
  }

  async function press(button: Button) {
    const whyNot = button.whyNot ?? whyNotNow(button);
    if (whyNot !== undefined) throw new Refusal(409, 'NOTHING_TO_BREAK', whyNot);
    const undoing = on.get(button);
    if (undoing !== undefined) {
      // It is on until it is undone; what can't be undone alone is undone with all.
      try {
        await undoing();
      } finally {
        on.delete(button);
      }
      return;
    }
    const node = target.nodes.find(({ name }) => name === button.at);
    const pressedAt = target.clock.now();
    const { fault, says, saysUndone } = button;
    const sale = typeof says === 'function' ? nextLetter() : '';
    const undo = await button.press(sale);
    // What is killed has told its last before it dies.
    const at = button.act === 'kill' ? target.clock.now() : pressedAt;
    // What could not be staged is not drawn.
    const mark = fault && testBed.mark(fault, { at, ...(node && { node }) });
    await testBed.say(typeof says === 'function' ? says(sale) : says);
    if (undo === undefined) return;
    on.set(button, async () => {
      mark?.over();
      await undo();
      if (saysUndone !== undefined) await testBed.say(saysUndone);
    });
  }

  return {
    controls: (): Control[] =>
      buttons.map((button) => {
        const { act, at, whyNot = whyNotNow(button) } = button;
        return { act, isOn: on.has(button), ...(at !== undefined && { at }), ...(whyNot !== undefined && { whyNot }) };
      }),
    /** Presses a button. Rejects with Refusal when there is none such, or it would do nothing. */
    async act({ act, at }: { act: Act; at?: string | undefined }) {
      const button = buttons.find((one) => one.act === act && one.at === at);
      if (button === undefined)
        throw new Refusal(400, 'BAD_REQUEST', `There is no button ${act}${at ? ` at ${at}` : ''}.`);
      // A second click of a double click.
      if (busy.has(button)) return;
      busy.add(button);
      try {
        await press(button);
      } catch (error) {
        if (error instanceof NotStagedError) throw new Refusal(409, 'NOT_STAGED', error.message);
        throw error;
      } finally {
        busy.delete(button);
        onChange();
      }
    },
    /** Undoes all that was broken, and lets everything go that is held. What has happened stays to be seen. */
    async undo() {
      try {
        for (const undo of [...on.values()].reverse()) await undo();
      } finally {
        on.clear();
        replica = undefined;
        hasFailedOver = false;
        await testBed.mend();
        onChange();
      }
    },
    /** Puts the stack back to what it was before. */
    async close() {
      ending.abort(new Error('Free play is over.'));
      await Promise.allSettled([...rushes]);
      await testBed.close();
    },
  };
}

function whyNoRelease(stage: string): string | undefined {
  const backend = backendOfRow(stage);
  if (stage === '1-in-process') return 'The lock is in the node itself: no command releases it.';
  if (!hasLock(stage)) return `Under ${stage} there is no lock to release.`;
  if (backend === 'redis' || backend === 'masters') return undefined;
  return `The lock of ${stage} is not in Redis, and what passes to its server can't be read.`;
}

function whyNoWrite(stage: string): string | undefined {
  return stockOf(stage) === 'mysql' ? "The stock is in MySQL, and what passes to it can't be read." : undefined;
}

function whyNoRedis(stage: string): string | undefined {
  const isInRedis = backendOfRow(stage) === 'redis' || stockOf(stage) === 'redis';
  return isInRedis ? undefined : `Under ${stage} nothing is in Redis.`;
}
