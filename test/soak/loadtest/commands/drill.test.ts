import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTempDir, type Part } from '../../../../scripts/stack/parts.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';
import { lockKey } from '../../../../services/inventory/store.ts';
import { concurrentCommand, makeBarePath } from '../../../loadtest/commands/command-under-test.ts';

const ENTER = 'Enter goes on.';

const drill = concurrentCommand('live/drill.ts', 3);

describe('npm run drill', { timeout: 90_000 }, () => {
  describe.concurrent('exit codes', () => {
    test('0: every stage does as the staircase says, or has nothing to break', async () => {
      const { code, stdout, stderr } = await drill(['late-release', '--stage', '1,5,6'], {
        // Without --pause nobody is waited for.
        meanwhile: async (command) => command.endInput(),
      });
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/– not applicable.*1-in-process.*✘ fails, as taught.*✔ holds, as taught/s),
      });
      expect(stdout).toMatch(/^ +\d+\.\d\d s {2}Sale \d+ on node-1 holds the lock/m);
      expect(stdout).not.toContain(ENTER);
      expect(stderr).toBe('');
    });

    test('0: a drill of the orders goes from row to row, each with nodes of its own', async () => {
      const { code, stdout, stderr } = await drill(['retry-after-timeout', '--idempotency', 'lock,table']);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          /Idempotency · lock.*✘ fails, as taught.*Idempotency · table.*✔ holds, as taught/s,
        ),
        stderr: '',
      });
      expect(stdout).toMatch(/The client repeats, on node-2: it was answered 200 order [0-9a-f]{8}\./);
    });

    test('0: a drill that the servers at hand cannot carry says what to install', async () => {
      const bare = makeBarePath();
      try {
        const { code, stdout } = await drill(['failover', '--stage', '8'], { env: { PATH: bare.path } });
        expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/– not applicable.*redis-server/s) });
      } finally {
        bare.remove();
      }
    });
  });

  describe.concurrent('a lock that does not do as taught', () => {
    const temp = makeTempDir();
    let part: Part | undefined;
    let url: string;

    beforeAll(async () => {
      ({ part, url } = await openRedis(undefined, { dir: temp.dir }));
    });

    afterAll(async () => {
      await part?.stop();
      temp.remove();
    });

    test('1: crashed-holder under 4-ttl, and somebody takes the end from the lease', async () => {
      const redis = new Redis(url);
      const { code, stdout } = await drill(['crashed-holder', '--stage', '4', '--lease', '2000'], {
        async meanwhile(command) {
          await command.prints(/is killed \(SIGKILL\)/);
          await redis.set(lockKey('001', '4-ttl'), 'held');
        },
        env: { REDIS_URL: url },
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/✘ fails, NOT as taught/) });
      expect(await redis.keys('*')).toEqual([]);
      redis.disconnect();
    });
  });

  describe.concurrent('--pause', () => {
    test('it waits for Enter at each step, and for nothing else', async () => {
      let printed = '';
      const { code, stdout } = await drill(['paused-process', '--stage', '8', '--pause'], {
        async meanwhile(command) {
          await command.prints(/Enter goes on\./);
          await sleep(1_500);
          printed = command.stdout();
          command.pressEnter();
          await command.prints(/(Enter goes on\..*){2}/s);
          command.pressEnter();
        },
      });
      expect(printed).toMatch(/SIGSTOP.*Enter goes on\. $/s);
      expect(printed.split(ENTER)).toHaveLength(2);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/✘ fails, as taught/) });
      expect(stdout.split(ENTER)).toHaveLength(3);
    });

    test('nobody was there from the beginning', async () => {
      const { code, stderr } = await drill(['late-release', '--stage', '6', '--pause'], {
        async meanwhile(command) {
          command.endInput();
        },
      });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/nobody is left to press Enter/) });
    });

    test('the input ends while a node is stopped', async () => {
      const { code, stderr } = await drill(['paused-process', '--stage', '8', '--pause'], {
        async meanwhile(command) {
          await command.prints(/Enter goes on\./);
          command.endInput();
        },
      });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/nobody is left to press Enter/) });
    });
  });

  describe.concurrent('Ctrl-C in the middle', () => {
    const stopped = { code: 2, stderr: expect.stringMatching(/stopped before the end/) };

    test.each([
      { name: 'paused-process', text: /SIGSTOP/, held: 'a node is stopped' },
      { name: 'late-write', text: /held up/, held: 'a write is held' },
      { name: 'crossed-write', text: /on node-2 holds the lock/, held: 'a write is held and the next one is inside' },
      { name: 'redis-outage', text: /SIGSTOP/, held: 'Redis stands still' },
      { name: 'failover', text: /Redis is killed/, held: 'the replica has taken the place of Redis' },
    ])('$name: while $held', async ({ name, text }) => {
      const { code, stderr } = await drill([name, '--stage', '8'], {
        async meanwhile(command) {
          await command.prints(text);
          command.child.kill('SIGINT');
        },
      });
      expect({ code, stderr }).toEqual(stopped);
    });

    test('late-release: while it waits for Enter', async () => {
      const { code, stderr } = await drill(['late-release', '--stage', '8', '--pause'], {
        async meanwhile(command) {
          await command.prints(/Enter goes on\./);
          command.child.kill('SIGINT');
        },
      });
      expect({ code, stderr }).toEqual(stopped);
    });

    test('twice: it does not wait for what it has started, and the reaper ends that', async () => {
      const { code } = await drill(['paused-process', '--stage', '8', '--pause'], {
        async meanwhile(command) {
          await command.prints(/Enter goes on\./);
          command.child.kill('SIGINT');
          await sleep(20);
          command.child.kill('SIGINT');
        },
      });
      expect(code).toBe(2);
    });
  });
});
