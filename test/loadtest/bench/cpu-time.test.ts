import { expect, test } from 'vitest';
import { cpuPerAcquisition, redisCpuIn, ticksIn } from '../../../loadtest/bench/cpu-time.ts';

test('each part: what was used between the two, for each acquisition', () => {
  const before = { processes: 1_000, nginx: 10, redis: 500 };
  const after = { processes: 3_000, nginx: 30, redis: 540 };

  expect(cpuPerAcquisition(before, after, 4)).toEqual({ processes: 500, nginx: 5, redis: 10 });
});

test('what INFO says: user and system time without its children', () => {
  const info = ['used_cpu_sys:1.5', 'used_cpu_user:2.000001', 'used_cpu_sys_children:9', 'used_cpu_user_children:9'];
  expect(redisCpuIn(info.join('\r\n'))).toBe(3_500_001);
  expect(redisCpuIn('# CPU\r\n')).toBeNaN();
});

test('what /proc says: the ticks of a process of this group, whatever its name', () => {
  const stat = '77 (a (b) c) S 1 42 42 0 -1 4194304 1 0 0 0 150 25 9 9 20 0 1 0 5 100 1';

  expect([42, 77, 1].map((group) => ticksIn(stat, group))).toEqual([175, 0, 0]);
  expect(ticksIn('', 42)).toBe(0);
});
