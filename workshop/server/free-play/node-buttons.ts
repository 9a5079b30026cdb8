// The buttons of a node.

import { lackIn, type TargetNode } from '../../../loadtest/harness/target.ts';
import { ourWire } from '../../../loadtest/harness/wire.ts';
import { deed } from '../../../loadtest/narration/faults.ts';
import { told } from '../../../loadtest/narration/steps.ts';
import type { Button, Played } from './button.ts';
import { whyNoRelease, whyNoWrite } from './why-not.ts';

/** How many leases to block an event loop for. */
const BLOCKED_LEASES = 2.5;

/** The buttons that act on this node. */
export function buttonsOfNode({ target, stage, leaseMs, testBed, switches, onChange }: Played, node: TargetNode) {
  const named = { node: node.name };
  const buttons: Button[] = [
    {
      act: 'sell',
      says: (sale) => told('came', { sale, ...named }),
      press: (sale) => void testBed.sales.sell(node, sale),
    },
    {
      act: 'hold-sale',
      says: (sale) => told('came to be held', { sale, ...named }),
      saysUndone: told('sale of the node resumed', named),
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
    hold('release', ourWire.isRelease, whyNoRelease(stage)),
    hold('write', ourWire.isStockWrite, whyNoWrite(stage)),
    {
      act: 'kill',
      fault: deed('killed'),
      says: told('killed', named),
      saysUndone: told('started again', named),
      whyNot: lackIn(target, 'node processes'),
      async press() {
        await testBed.faults.kill(node);
        // What its process was told is forgotten with it.
        switches.forget('hold-sale', node.name);
        return () => testBed.faults.revive(node);
      },
    },
    {
      act: 'stop',
      fault: deed('stopped'),
      says: told('paused', named),
      saysUndone: told('process resumed', named),
      whyNot: lackIn(target, 'node processes'),
      press: () => testBed.faults.pause(node).comeBack,
    },
    {
      act: 'cut',
      fault: deed('cut off'),
      says: told('cut off', named),
      saysUndone: told('reached its lock again', named),
      whyNot: lackIn(target, 'links'),
      press: () => testBed.faults.cutOff(node).restore,
    },
    {
      act: 'block',
      fault: deed('blocked'),
      says: (sale) => told('came to block', { sale, ...named }),
      async press(sale) {
        await node.script({ blockMs: Math.round(BLOCKED_LEASES * leaseMs) });
        testBed.sales.sell(node, sale);
        return undefined;
      },
    },
  ];
  return buttons.map((button) => ({ ...button, at: node.name }));

  function hold(command: 'release' | 'write', isMeant: typeof ourWire.isRelease, whyNot: string | undefined): Button {
    return {
      act: `hold-${command}`,
      says: told('command to be held', { ...named, command }),
      saysUndone: told('command let go', { ...named, command }),
      whyNot: lackIn(target, 'links') ?? whyNot,
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
    };
  }
}
