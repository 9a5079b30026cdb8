// Free play: buttons that sell, hold, break and repair, on the drills' test bed, and the reasons why a button would do nothing.
//
// A button is pressed and done with, or on until it is undone, which a second press does. What each does is in free-play/.

import { NotStagedError } from '../../loadtest/evidence/not-staged.ts';
import type { DrillContext } from '../../loadtest/harness/drill.ts';
import { openTestBed } from '../../loadtest/harness/test-bed.ts';
import type { StepSentence } from '../../loadtest/narration/steps.ts';
import type { Act, Control } from '../page/protocol.ts';
import { type Button, createSwitches, type Played } from './free-play/button.ts';
import { buttonsOfNode } from './free-play/node-buttons.ts';
import { buttonsOfRedis, createFailover, rushButton } from './free-play/redis-buttons.ts';
import { createSales } from './free-play/sales.ts';
import { whyNotNow } from './free-play/why-not.ts';
import { Refusal } from './refusal.ts';

/** The units in stock at the start. */
export const FREE_STOCK = 1_000;

export interface FreePlayOptions extends Pick<DrillContext, 'target' | 'stage' | 'observe'> {
  leaseMs: number;
  /** Reports what was done. */
  narrate: (sentence: StepSentence) => Promise<void>;
  /** Called when a button has changed. */
  onChange: () => void;
}

export type FreePlay = Awaited<ReturnType<typeof openFreePlay>>;

/** Two nodes under this stage, with a stock, for an audience to break. */
export async function openFreePlay({ target, stage, observe, leaseMs, narrate, onChange }: FreePlayOptions) {
  const ending = new AbortController();
  const { signal } = ending;
  const testBed = await openTestBed({
    ...{ target, stage, timing: { leaseMs }, stock: FREE_STOCK, signal, narrate, ...(observe && { observe }) },
  });
  const sales = createSales(target, signal);
  const switches = createSwitches();
  const played: Played = { target, stage, leaseMs, testBed, sales, switches, onChange };
  const failover = createFailover(played);
  const ofNodes = target.nodes.flatMap((node) => buttonsOfNode(played, node));
  const buttons = [...ofNodes, rushButton(played), ...buttonsOfRedis(played), ...failover.buttons];
  /** The buttons that are being pressed. */
  const busy = new Set<Button>();

  const whyNotOf = (button: Button) => button.whyNot ?? whyNotNow(button, switches, failover.isOver());

  return {
    controls: (): Control[] =>
      buttons.map((button) => {
        const { act, at } = button;
        const whyNot = whyNotOf(button);
        const isOn = switches.has(button);
        return { act, isOn, ...(at !== undefined && { at }), ...(whyNot !== undefined && { whyNot }) };
      }),
    /** Presses a button. Rejects with Refusal if it does not exist or would do nothing. */
    async act({ act, at }: { act: Act; at?: string | undefined }) {
      const button = buttons.find((one) => one.act === act && one.at === at);
      if (button === undefined)
        throw new Refusal(400, 'BAD_REQUEST', `There is no button ${act}${at ? ` for ${at}` : ''}.`);
      // A second click of a double click.
      if (busy.has(button)) return;
      busy.add(button);
      try {
        const whyNot = whyNotOf(button);
        if (whyNot !== undefined) throw new Refusal(409, 'NOTHING_TO_BREAK', whyNot);
        await (switches.has(button) ? switches.undo(button) : press(button, played));
      } catch (error) {
        if (error instanceof NotStagedError) throw new Refusal(409, 'NOT_STAGED', error.message);
        throw error;
      } finally {
        busy.delete(button);
        onChange();
      }
    },
    /** Repairs everything that was broken, and releases everything that is held. Past events stay visible. */
    async undo() {
      try {
        await switches.undoAll();
      } finally {
        failover.forget();
        await testBed.mend();
        onChange();
      }
    },
    /** Restores the stack. */
    async close() {
      ending.abort(new Error('Free play is over.'));
      await sales.rushesEnded();
      await testBed.close();
    },
  };
}

/** Carries out the button's action, draws and reports it. From now on it is on, if its action lasts. */
async function press(button: Button, { target, testBed, sales, switches }: Played) {
  const node = target.nodes.find(({ name }) => name === button.at);
  const pressedAt = target.clock.now();
  const { fault, says, saysUndone } = button;
  const sale = typeof says === 'function' ? sales.nextLetter() : '';
  const undo = await button.press(sale);
  // What is killed has told its last before it dies.
  const at = button.act === 'kill' ? target.clock.now() : pressedAt;
  // What could not be staged is not drawn.
  const mark = fault && testBed.mark(fault, { at, ...(node && { node }) });
  await testBed.say(typeof says === 'function' ? says(sale) : says);
  if (undo === undefined) return;
  switches.turnOn(button, async () => {
    mark?.over();
    await undo();
    if (saysUndone !== undefined) await testBed.say(saysUndone);
  });
}
