import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  cpuPerAcquisition,
  groupCpu,
  nodeCpuIn,
  redisCpu,
  redisCpuIn,
  sumOfCpu,
  ticksIn,
  totalOf,
} from '../../../../loadtest/bench/cpu-time.ts';
import { createMetrics } from '../../../../services/inventory/metrics.ts';
import { ownRedis } from '../../../locks/own-redis.ts';

const { connect } = ownRedis();

describe('CPU time per acquisition', () => {
  test('each part: what was used between the two, for each', () => {
    const before = { processes: 1_000, nginx: 10, redis: 500, redisMainThread: 400 };
    const after = { processes: 3_000, nginx: 30, redis: 540, redisMainThread: 436 };
    expect(cpuPerAcquisition(before, after, 4)).toEqual({ processes: 500, nginx: 5, redis: 10, redisMainThread: 9 });
  });

  test('a part that one end lacks is left out, and all are when nothing was acquired', () => {
    expect(cpuPerAcquisition({ processes: 1, redis: 2 }, { processes: 3 }, 1)).toEqual({ processes: 2 });
    expect(cpuPerAcquisition({ processes: 1 }, { processes: 3 }, 0)).toEqual({});
  });

  test('several servers: the sum of each part that all of them tell', () => {
    const first = { redis: 10, redisMainThread: 8 };
    expect(sumOfCpu([first, { redis: 5, redisMainThread: 4 }])).toEqual({ redis: 15, redisMainThread: 12 });
    expect(sumOfCpu([first, { redis: 5 }])).toEqual({ redis: 15 });
    expect(sumOfCpu([])).toEqual({});
  });

  test('the total has the main thread of Redis in it once', () => {
    expect(totalOf({ processes: 30, nginx: 4, redis: 12, redisMainThread: 11 })).toBe(46);
  });
});

describe('CPU time of Redis', () => {
  const info = [
    '# CPU',
    'used_cpu_sys:1.500000',
    'used_cpu_user:2.000001',
    'used_cpu_sys_children:9.000000',
    'used_cpu_user_children:9.000000',
  ];

  test('user and system time, without that of its children', () => {
    expect(redisCpuIn(info.join('\r\n'))).toEqual({ redis: 3_500_001 });
  });

  test('the main thread beside it, where there is a line for it', () => {
    const lines = [...info, 'used_cpu_sys_main_thread:1.250000', 'used_cpu_user_main_thread:2.000000'];
    expect(redisCpuIn(lines.join('\r\n'))).toEqual({ redis: 3_500_001, redisMainThread: 3_250_000 });
  });

  test('a server that does not tell has none', () => {
    expect(redisCpuIn('# CPU\r\n')).toEqual({});
  });

  test('a real server: grows with the work that it does, and two count twice', async () => {
    const client = connect();
    const [before] = [await redisCpu([client])];
    await client.eval('for i = 1, 2000000 do local x = i * 2 end', 0);
    const after = await redisCpu([client]);
    expect(Number(after.redis) - Number(before?.redis)).toBeGreaterThan(1_000);
    expect((await redisCpu([client, client])).redis).toBeGreaterThan(1.9 * Number(after.redis));
  });
});

test('CPU time of a node: what /metrics shows, in microseconds', async () => {
  const { registry } = createMetrics();
  const { user, system } = process.cpuUsage();
  while (process.cpuUsage({ user, system }).user < 20_000);
  const { processes = 0 } = nodeCpuIn(await registry.metrics());
  expect(processes).toBeGreaterThan(5_000);
  expect(processes).toBeLessThan(user + system + 1_000_000);
  expect(nodeCpuIn('# HELP other\nother 3\n')).toEqual({});
});

describe('CPU time of a process group', () => {
  const stat = '77 (a (b) c) S 1 42 42 0 -1 4194304 1 0 0 0 150 25 9 9 20 0 1 0 5 100 1';

  test('the ticks of a process of this group, whatever its name', () => {
    expect([42, 77, 1].map((group) => ticksIn(stat, group))).toEqual([175, 0, 0]);
    expect(ticksIn('', 42)).toBe(0);
  });

  test.skipIf(process.platform !== 'linux')('a real group: its leader and the child of that', async () => {
    const child = spawn('sh', ['-c', 'sh -c "while :; do :; done" & echo started; wait'], { detached: true });
    const group = Number(child.pid);
    try {
      await once(child.stdout, 'data');
      const before = Number(groupCpu(group));
      const until = performance.now() + 5_000;
      while (Number(groupCpu(group)) - before < 50_000 && performance.now() < until) await new Promise(setImmediate);
      expect(Number(groupCpu(group)) - before).toBeGreaterThanOrEqual(50_000);
    } finally {
      process.kill(-group, 'SIGKILL');
      await once(child, 'close');
    }
  });
});
