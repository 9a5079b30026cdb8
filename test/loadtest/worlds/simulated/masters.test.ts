import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import type { Link } from '../../../../stack/proxy/link.ts';
import type { Breakable } from '../../../../stack/stack.ts';
import { isUnknown, run, withNodes } from './own-target.ts';

const [amnesia, frozenMaster, lateVotes] = [scenario('amnesia'), scenario('frozen-master'), scenario('late-votes')];

/** The masters' processes, with some of what is done to them different. */
const withProcesses =
  (change: Partial<Breakable>) =>
  (target: Target): Target => {
    if (target.stack === undefined) throw new Error('There is no stack of our own.');
    const masters = target.stack.masters.map(({ url, process }) => ({
      url,
      ...(process && { process: { ...process, ...change } }),
    }));
    return { ...target, stack: { ...target.stack, masters } };
  };

/** The lines from the nodes to the masters, with some of what is done to them different. */
const withMasterLinks = (change: Partial<Link>) => (target: Target) =>
  withNodes(target, ({ masterLinks = [] }) => ({ masterLinks: masterLinks.map((link) => ({ ...link, ...change })) }));

describe('the masters that vote', () => {
  describe('a fault that was not there is unknown', () => {
    test('frozen-master: the signal does nothing', async () => {
      isUnknown(await run(frozenMaster, 'redlock', { wrap: withProcesses({ signal() {} }) }), /answers after SIGSTOP/);
    });

    test('late-votes: the answers are not delayed', async () => {
      isUnknown(
        await run(lateVotes, 'redlock', { wrap: withMasterLinks({ delayReplies() {} }) }),
        /answers were not late/,
      );
    });

    test('amnesia: the master is not killed, and forgets nothing', async () => {
      const immortal = withProcesses({ async kill() {}, async start() {} });
      isUnknown(await run(amnesia, 'redlock', { wrap: immortal }), /has forgotten nothing/);
    });

    test('amnesia: the lines are not cut, so the majority is not bare', async () => {
      isUnknown(await run(amnesia, 'redlock', { wrap: withMasterLinks({ cut() {} }) }), /had voted for node-1/);
    });
  });

  describe('where no masters vote, there is nothing to break', () => {
    test.each(['frozen-master', 'late-votes', 'amnesia'].map(scenario))(
      '$name on a target without masters',
      async (drill) => {
        const sentence = 'Here are no masters.';
        const lacking = (target: Target): Target => ({ ...target, lacks: { masters: sentence } });
        expect(await run(drill, 'redlock', { wrap: lacking })).toMatchObject({
          verdict: 'not-applicable',
          reasons: [sentence],
        });
      },
    );
  });
});
