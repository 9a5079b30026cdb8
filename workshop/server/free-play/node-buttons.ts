// The buttons of a node.

import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { ourWire } from '../../../loadtest/harness/wire.ts';
import { deed } from '../../../loadtest/narration/faults.ts';
import { told } from '../../../loadtest/narration/steps.ts';
import type { Button, Played } from './button.ts';
import { whyNoRelease, whyNoWrite } from './why-not.ts';

/** For how many leases an event loop is blocked. */
const BLOCKED_LEASES = 2.5;

export const buttonsOfNode = (played: Played, node: TargetNode): Button[] => [
  sell(played, node),
  holdSale(played, node),
  hold(played, node, 'release', ourWire.isRelease, whyNoRelease(played.stage)),
  hold(played, node, 'write', ourWire.isStockWrite, whyNoWrite(played.stage)),
  kill(played, node),
  stop(played, node),
  cut(played, node),
  block(played, node),
];

const sell = ({ testBed }: Played, node: TargetNode): Button => ({
  act: 'sell',
  at: node.name,
  says: (sale) => told('came', { sale, node: node.name }),
  press: (sale) => void testBed.sales.sell(node, sale),
});

const holdSale = ({ testBed }: Played, node: TargetNode): Button => ({
  act: 'hold-sale',
  at: node.name,
  says: (sale) => told('came to be held', { sale, node: node.name }),
  saysUndone: told('sale of the node resumed', { node: node.name }),
  async press(sale) {
    await node.script({ untilResumed: true });
    testBed.sales.sell(node, sale);
    return async () => {
      // It may still wait for the lock, and would be held later.
      await node.script({});
      await node.resume();
    };
  },
});

function hold(
  { target, testBed, onChange }: Played,
  node: TargetNode,
  command: 'release' | 'write',
  isMeant: typeof ourWire.isRelease,
  whyNot: string | undefined,
): Button {
  return {
    act: `hold-${command}`,
    at: node.name,
    says: told('command to be held', { node: node.name, command }),
    saysUndone: told('command let go', { node: node.name, command }),
    whyNot: target.lacks.links ?? whyNot,
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

const kill = ({ target, testBed, switches }: Played, node: TargetNode): Button => ({
  act: 'kill',
  at: node.name,
  fault: deed('killed'),
  says: told('killed', { node: node.name }),
  saysUndone: told('started again', { node: node.name }),
  whyNot: target.lacks['node processes'],
  async press() {
    await testBed.faults.kill(node);
    // What its process was told is forgotten with it.
    switches.forget('hold-sale', node.name);
    return () => testBed.faults.revive(node);
  },
});

const stop = ({ target, testBed }: Played, node: TargetNode): Button => ({
  act: 'stop',
  at: node.name,
  fault: deed('stopped'),
  says: told('paused', { node: node.name }),
  saysUndone: told('process resumed', { node: node.name }),
  whyNot: target.lacks['node processes'],
  press: () => testBed.faults.pause(node).comeBack,
});

const cut = ({ target, testBed }: Played, node: TargetNode): Button => ({
  act: 'cut',
  at: node.name,
  fault: deed('cut off'),
  says: told('cut off', { node: node.name }),
  saysUndone: told('reached its lock again', { node: node.name }),
  whyNot: target.lacks.links,
  press: () => testBed.faults.cutOff(node).restore,
});

const block = ({ testBed, leaseMs }: Played, node: TargetNode): Button => ({
  act: 'block',
  at: node.name,
  fault: deed('blocked'),
  says: (sale) => told('came to block', { sale, node: node.name }),
  async press(sale) {
    await node.script({ blockMs: Math.round(BLOCKED_LEASES * leaseMs) });
    testBed.sales.sell(node, sale);
    return undefined;
  },
});
