// Runs the drills of an exercise about orders on real servers: MySQL, Redis, and two nodes that use the file instead of their own part.

import { type Drill, runCell } from '../../loadtest/harness/drill.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { because, type Reason, ReasonedError, reasoned } from '../../loadtest/narration/reasons.ts';
import { drillsIn, exerciseDrills } from '../../loadtest/orders/index.ts';
import { guardStaircase, rowOfGuard } from '../../loadtest/staircase/guards.ts';
import { KEY_LEASE_MS, keySettings, keyStaircase, rowOfStrategy } from '../../loadtest/staircase/keys.ts';
import { openLocalTarget, whyNotOwnMysql } from '../../loadtest/worlds/real/target.ts';
import { realWorld } from '../../loadtest/worlds/real/world.ts';
import { startBackends } from '../../stack/backends.ts';
import { PartError } from '../../stack/parts.ts';
import { isNode } from '../../stack/stack.ts';
import type { Exercise, RealVerdict } from './exercise.ts';
import { readNodeLine } from './orders/node-line.ts';

/** How long a drill may be idle, in milliseconds: a drill that waits for a redelivered message takes twenty seconds. */
const IDLE_LIMIT_MS = 30_000;
const env = {
  ...keySettings,
  LOCK_VERSION: '',
  LOG_LEVEL: 'error',
  // Short enough that the last words of a node tell its error.
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --stack-trace-limit=4`.trim(),
};
const ofCleanUp = [...Object.keys(guardStaircase.columns), 'crossed-ticks'];
const drills = [...drillsIn(guardStaircase), ...drillsIn(keyStaircase), ...exerciseDrills];

/** Runs one drill after the other, until one fails. Rejects if the servers can't be started, and with the signal's reason. */
export async function playOrders({ file, settings }: Exercise, signal: AbortSignal): Promise<RealVerdict[]> {
  const verdicts: RealVerdict[] = [];
  const broken = new AbortController();
  /** The first error of the file that a node has logged. */
  let fault: Reason | undefined;
  /** Why a node has not started with the file. */
  let refused: string | undefined;
  const onLine = (node: string, line: string) => {
    const { err, refused: why } = readNodeLine(line);
    refused ??= why;
    if (err) fault ??= because('node logged an error', { node, ...err });
  };
  const backends = await startBackends(['mysql']);
  let target: Target | undefined;
  try {
    const [first = ''] = settings.drills;
    const whyNot = whyNotOwnMysql() ?? backends.lacks.mysql;
    if (whyNot !== undefined) return [verdictOf(first, 'not-applicable', [because('text', { text: whyNot })])];
    const service = 'workshop/exercises/orders/node.ts';
    const options = { forDrills: true, env: { ...env, ORDER_MODULE: file }, service, onLine };
    const opened = await openLocalTarget(options, backends).catch((error) => whyNoNode(error, refused));
    if ('form' in opened) return [verdictOf(first, 'fail', [opened])];
    target = opened;
    // That another part dies is not the file's doing: the drill is not known then.
    void target.partDied.then((died) => isNode(died) && broken.abort(new Error(died.inShort)));
    for (const name of settings.drills) {
      fault = undefined;
      const { verdict, says } = await play(name, opened, AbortSignal.any([signal, broken.signal]));
      signal.throwIfAborted();
      // What ends a node, never comes back, or throws is the file's doing.
      const isFault = verdict !== 'fail' && (broken.signal.aborted || fault !== undefined);
      const why = verdict === 'pass' && !isFault ? [] : [...says, ...(fault ? [fault] : [])];
      verdicts.push(verdictOf(name, isFault ? 'fail' : verdict, why));
      if (verdict !== 'pass' || isFault) break;
    }
    return verdicts;
  } finally {
    // One that computes without end is not brought in order.
    for (const { process } of target?.nodes ?? []) await process?.kill();
    await target?.close();
    await backends.stop();
  }

  async function play(name: string, target: Target, either: AbortSignal) {
    const isOfCleanUp = ofCleanUp.includes(name);
    const drill = drills.find((each) => each.name === name) as Drill;
    const idle = () => broken.abort(new ReasonedError(because('file never ends', { ms: IDLE_LIMIT_MS })));
    const timer = setTimeout(idle, IDLE_LIMIT_MS);
    try {
      // The lock of the sales says where the stock is. What the row does, the file does instead.
      for (const node of target.nodes) await node.setLock(isOfCleanUp ? 'mysql-conditional' : '8-auto-renew');
      const stage = isOfCleanUp ? rowOfGuard('none') : rowOfStrategy('none');
      const world = realWorld({
        targets: { open: async () => target, discard: async () => {} },
        settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs: KEY_LEASE_MS },
        signal: either,
      });
      return await runCell({ stage, drill }, world, { narrate: async () => void timer.refresh() });
    } finally {
      clearTimeout(timer);
    }
  }
}

const verdictOf = (drill: string, verdict: RealVerdict['verdict'], says: Reason[]): RealVerdict => ({
  ...{ drill, verdict, says, reason: says.map(reasoned).join(' ') },
});

/** Why no node starts with the file. Throws what has another reason. */
function whyNoNode(error: Error, refused: string | undefined): Reason {
  // A node that is late is late by the machine.
  if (!(error instanceof PartError) || !isNode(error) || error.isLate) throw error;
  return because('no node starts with the file', { why: refused === undefined ? error.inShort : `${refused}.` });
}
