// Real servers for a lock: two nodes and a Redis that stay warm, and load the lock anew for each run.

import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { realWorld } from '../../loadtest/harness/real-world.ts';
import { runCell } from '../../loadtest/harness/run-cell.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { createTargets } from '../../loadtest/harness/targets.ts';
import { drills as allDrills } from '../../loadtest/scenarios/index.ts';
import { addExternalRow } from '../../loadtest/staircase/lookup.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { RealJudge, RealVerdict } from './real-judge.ts';

/** The name of the lock on the nodes, whichever exercise it is from. */
const NAME = 'lock-of-an-exercise';
/**
 * The nodes load a copy in this folder: they are told once where the lock is, and go on from exercise to exercise. It stands two folders
 * deep, as the file of an exercise does, so that its imports lead to the same files.
 */
const folder = join(projectDir, 'reports/workshop');
const LEASE_MS = 1_000;
/** What a rush sends: enough that two nodes without a lock lose sales each time. */
const LOAD = { requests: 1_000, connections: 60, stock: 5_000, units: 500 };

/** `onDeath` is told with a sentence when a server ends that nobody has ended. */
export function openLockServers(onDeath: (sentence: string) => void): RealJudge {
  // Another workshop may run in the same project.
  const copy = join(folder, `${NAME}-${randomUUID()}.ts`);
  const targets = createTargets({ modules: { [NAME]: { file: copy, backend: 'redis' } }, onDeath });
  let hasStarted = false;
  addExternalRow(NAME, 'redis');

  // The drills that go step by step need links to the nodes; a rush goes over them as well.
  const open = () => targets.open('steps', 0, NAME);

  function put(file: string) {
    mkdirSync(folder, { recursive: true });
    copyFileSync(file, copy);
  }

  /** The servers, with nodes that have loaded the file. */
  async function load(file: string): Promise<Target> {
    put(file);
    if (!hasStarted) {
      const target = await open();
      hasStarted = true;
      return target;
    }
    const target = await open();
    const nodes = target.nodes.flatMap(({ process }) => process ?? []);
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all(nodes.map((node) => node.start()));
    return target;
  }

  async function discard() {
    hasStarted = false;
    await targets.discard('steps', 0);
  }

  async function judgeBy(name: string, target: Target, run: Parameters<RealJudge['run']>[1]) {
    const drill = allDrills.find((drill) => drill.name === name);
    if (drill === undefined) throw new Error(`There is no drill ${name} of a lock.`);
    const world = realWorld({
      targets: { open: async () => target, discard },
      settings: { ...LOAD, leaseMs: LEASE_MS },
      signal: run.signal,
    });
    const narrate = async (sentence: string, atMs: number) => run.narrate(sentence, atMs);
    const { verdict, reasons, witnesses } = await runCell({ stage: NAME, drill }, world, { narrate });
    return { drill: name, verdict, reason: reasons.join(' '), witnesses } satisfies RealVerdict;
  }

  return {
    async warmUp({ original }) {
      if (!hasStarted) await load(original);
    },
    async run({ settings: { drills } }, run) {
      const verdicts: RealVerdict[] = [];
      let target = await load(run.file);
      for (const name of drills) {
        run.signal.throwIfAborted();
        if (!hasStarted) target = await load(run.file);
        run.onDrill(name);
        const verdict = await judgeBy(name, target, run);
        verdicts.push(verdict);
        run.onVerdict(verdict);
        if (verdict.verdict === 'fail') break;
      }
      return verdicts;
    },
    async whyNotLoaded() {
      return undefined;
    },
    async close() {
      await targets.close();
      rmSync(copy, { force: true });
    },
  };
}
