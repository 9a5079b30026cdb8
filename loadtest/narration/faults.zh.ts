// What a drill does on purpose, in Chinese, as the timeline calls it.

import { type Wording, worded } from '../../simulation/wording.ts';
import type { Deed, FaultForms } from './faults.ts';

const commands = { write: '写命令', release: '释放命令' };

const labelsInChinese: Wording<FaultForms> = {
  killed: () => 'SIGKILL',
  stopped: () => 'SIGSTOP',
  blocked: () => '事件循环阻塞',
  'slow clock': ({ percent }) => `时钟慢 ${percent}%`,

  held: ({ command }) => `${commands[command]}被拦住`,
  'held on its way': () => '在途中被拦住',
  'late write arrives': () => '迟到的写命令到达',
  'line cut': () => '连接断开',
  'line slow': () => '连接变慢',
  'cut off from its lock': () => '与锁服务器断开',
  'cut off': () => '断开连接',
  'masters cut off': ({ lines }) => `断开 ${lines} 条连接`,
  'votes late': () => '票迟到',

  stalls: () => '停顿',
  hangs: () => '卡死',
  'asks again': () => '再次加锁',
  'lease ends': () => '租期结束',
  'clients hang up': ({ clients }) => `${clients} 个客户端断开连接`,

  'Redis killed': () => 'Redis 宕机',
  'Redis is killed': () => 'Redis 宕机',
  'Redis killed for a while': () => 'Redis 宕机（SIGKILL）',
  'Redis stopped for a while': () => 'Redis 停顿（SIGSTOP）',
  'Redis stopped': () => 'Redis 停顿',
  'replica cut off': () => '副本断开连接',
  'replication cut': () => '复制连接断开',
  'one replica cut off': () => '一个副本断开连接',
  'replica promoted': () => '副本被提升',
  failover: () => '主从切换',
  'master stopped': ({ master }) => `主节点 ${master} SIGSTOP`,
  'master restarts empty': ({ master }) => `主节点 ${master} 重启后数据为空`,
  'lock servers killed': ({ killed }) => `锁的 ${killed} 台服务器 SIGKILL`,
  'clock jumps': ({ server }) => `${server} 的时钟跳变`,
};

/** What the timeline calls it. */
export const labelInChinese = (what: Deed): string => worded<FaultForms>(labelsInChinese, what);
