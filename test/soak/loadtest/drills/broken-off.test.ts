// A run that is stopped in the very act of breaking something: what was begun comes to its end and is undone. `run` looks at the stack.

import { describe, expect, test } from 'vitest';
import type { StepDrill } from '../../../../loadtest/harness/step-drill.ts';
import type { Target, TargetNode } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { ownTargets, withNodes } from '../../../loadtest/drills/own-targets.ts';

const crashedHolder = scenario('crashed-holder');
const crossedWrite = scenario('crossed-write');
const failover = scenario('failover');
const lateRelease = scenario('late-release');
const pausedProcess = scenario('paused-process');

const { run } = ownTargets(1, [], { hasReplica: true });
const broken = () => new Error('broken half way');

/** The node, with a stop before each of these acts. */
type Change = (node: TargetNode, stop: () => void) => Partial<TargetNode>;

/** Stops the run, and acts. */
const stopped =
  <Args extends unknown[], Result>(stop: () => void, act: (...args: Args) => Result) =>
  (...args: Args): Result => {
    stop();
    return act(...args);
  };

const kill: Change = ({ process }, stop) =>
  process ? { process: { ...process, kill: stopped(stop, process.kill) } } : {};
const pause: Change = ({ process }, stop) =>
  process ? { process: { ...process, signal: stopped(stop, process.signal) } } : {};
const hold: Change = ({ link }, stop) => (link ? { link: { ...link, holdNext: stopped(stop, link.holdNext) } } : {});
const cut: Change = ({ link }, stop) => (link ? { link: { ...link, cut: stopped(stop, link.cut) } } : {});
const lead: Change = ({ link }, stop) => (link ? { link: { ...link, moveTo: stopped(stop, link.moveTo) } } : {});

describe('stopped in the act', () => {
  test.each<[string, StepDrill, Change]>([
    ['a node is killed', crashedHolder, kill],
    ['a node is paused', pausedProcess, pause],
    ['a release is about to be held', lateRelease, hold],
    ['the line is cut behind a write', crossedWrite, cut],
    ['the nodes are led to the replica', failover, lead],
  ])('%s', async (_act, drill, change) => {
    const stopping = new AbortController();
    const stop = () => stopping.abort(broken());
    const wrap = (target: Target) => withNodes(target, (node) => change(node, stop));

    await expect(run(drill, '8-auto-renew', { signal: stopping.signal, wrap })).rejects.toThrow('broken half way');
  });
});
