// What a machine that is too busy does to a verdict: processes that really stand still, and servers that really work.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';

const hungHolder = scenario('hung-holder');
const longSale = scenario('long-sale');

const { run, target } = ownTargets();
const tooBusy = /^The machine was too busy: nothing ran for [\d.]+ m?s\./;

// Neither Redis nor the harness stands still meanwhile.
test.each([
  { drill: longSale, node: 1, forMs: 550, wrong: 'it would fail' },
  { drill: hungHolder, node: 0, forMs: 1_100, wrong: 'it would pass' },
])('$drill.name: a node stands still for $forMs ms: unknown; $wrong', async ({ drill, node, forMs }) => {
  const { process } = target().nodes[node] ?? {};
  let stopped: Promise<void> | undefined;
  async function standStill() {
    await sleep(300);
    process?.signal('SIGSTOP');
    await sleep(forMs);
    process?.signal('SIGCONT');
  }
  const narrate = async () => {
    stopped ??= standStill();
  };
  const outcome = await run(drill, '8-auto-renew', { tries: 1, narrate });

  await stopped;
  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(tooBusy)] });
});
