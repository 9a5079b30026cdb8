import { expect } from 'vitest';
import type { StepFigures, Timeline } from '../../../../loadtest/evidence/results.ts';
import type { DrillOutcome, Narrate } from '../../../../loadtest/harness/drill.ts';
import type { Target, TargetNode } from '../../../../loadtest/harness/target.ts';
import type { Scenario } from '../../../../loadtest/scenarios/read.ts';
import { runScenario, type ScenarioOptions } from '../../../../loadtest/scenarios/scenario.ts';
import { inVirtualWorld } from '../../../../loadtest/worlds/simulated/play.ts';
import type { Lab } from '../../../../simulation/lab.ts';
import { lockNamed } from '../../../../simulation/lock-service.ts';

export const LEASE_MS = 600;
/** Longer than what the nodes have begun takes to end, in milliseconds of the virtual clock. */
const AFTERWARDS_MS = 1_000;

export interface RunOptions extends Partial<Omit<ScenarioOptions, 'target'>> {
  /** Makes of the target one on which something is different: a step that does nothing. */
  wrap?: (target: Target) => Target;
  /** Narrates on the target that is run on. */
  narrateOn?: (target: Target) => Narrate;
  /** The lock that the nodes have, under the name of the stage that they are asked for. */
  really?: string;
}

/** Runs a drill once on a target of its own in the virtual world, and sees that the stack is as before. Rejects as the drill does. */
export function run(page: Scenario, stage: string, options: RunOptions = {}): Promise<DrillOutcome> {
  const {
    wrap = (target) => target,
    narrateOn = () => async () => {},
    really = stage,
    leaseMs = LEASE_MS,
    ...others
  } = options;
  return inVirtualWorld({ lock: { ...lockNamed(really), name: stage }, leaseMs }, async (target, lab) => {
    const outcome = await runScenario(page, {
      leaseMs,
      narrate: narrateOn(target),
      tries: 1,
      ...others,
      target: wrap(target),
      stage,
    });
    await isAsBefore(target, lab);
    return outcome;
  });
}

/** Every process runs, nothing is held, nobody is inside, no key is left, and both nodes sell. */
async function isAsBefore({ nodes, clock }: Target, lab: Lab) {
  await clock.sleep(AFTERWARDS_MS);
  for (const server of [lab.redis, ...lab.masters]) expect(server.execute(0, ['KEYS', '*'])).toEqual([]);
  for (const node of nodes) {
    const { inFlight, waiting, unreleased, held, counts } = await node.state();
    expect({ inFlight, waiting, unreleased, held }).toEqual({ inFlight: 0, waiting: 0, unreleased: 0, held: 0 });
    expect(Object.values(counts).every((count) => count === 0)).toBe(true);
    expect(await node.history()).toMatchObject({ events: [], dropped: 0 });
    for (const link of [node.link, ...(node.masterLinks ?? [])]) expect(link?.counters.open).toBe(2);
  }
}

/** The target with its nodes changed; `index` is 0 for the first node and 1 for the second. */
export function withNodes(target: Target, change: (node: TargetNode, index: number) => Partial<TargetNode>): Target {
  return { ...target, nodes: target.nodes.map((node, index) => ({ ...node, ...change(node, index) })) };
}

type HeldCommand = ReturnType<NonNullable<TargetNode['link']>['holdNext']>;

/** The links hold commands in another way. */
export const held = (change: (held: HeldCommand) => Partial<HeldCommand>) => (target: Target) =>
  withNodes(target, ({ link }) => {
    if (link === undefined) return {};
    const holdNext = (meant: Parameters<typeof link.holdNext>[0]) => {
      const held = link.holdNext(meant);
      return { ...held, ...change(held) };
    };
    return { link: { ...link, holdNext } };
  });

/** The links never see the command. */
export const never = held(() => ({ arrived: new Promise(() => {}) }));

/** What was held never reaches Redis. */
export const lost = held((command) => ({
  async letGo() {
    command.drop();
    return false;
  },
}));

export const withoutLinks = (target: Target): Target => ({
  ...target,
  nodes: target.nodes.map(({ link, ...node }) => node),
});

/** The second node can't be asked for anything. */
export const deaf = (target: Target) =>
  withNodes(target, (_node, index) => (index === 1 ? { publicUrl: 'http://nowhere' } : {}));

export const figuresOf = ({ figures }: DrillOutcome) => figures as StepFigures;

/** Nothing may be concluded, for this reason. */
export function isUnknown({ verdict, reasons }: DrillOutcome, expected: RegExp) {
  expect({ verdict, reasons }).toEqual({ verdict: 'unknown', reasons: [expect.stringMatching(expected)] });
}

export function timelineOf({ timeline }: DrillOutcome): Timeline {
  if (timeline === undefined) throw new Error('There is no timeline.');
  return timeline;
}
