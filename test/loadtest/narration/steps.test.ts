import { expect, test } from 'vitest';
import { narrated, type StepSentence } from '../../../loadtest/narration/steps.ts';
import { narratedInChinese } from '../../../loadtest/narration/steps.zh.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';

/** What is said of a scenario under a stage, from its first step to its last. */
async function said(name: string, stage: string): Promise<StepSentence[]> {
  const drill = drills.find((each) => each.name === name);
  if (drill === undefined) throw new Error(`There is no drill ${name}.`);
  const sentences: StepSentence[] = [];
  await playDrill(drill, stage, { narrate: async (sentence) => void sentences.push(sentence) });
  return sentences;
}

test.each([
  {
    cell: ['late-write', '8-auto-renew'],
    reads: `
A acquired the lock on node-1 and read stock 100.                                | A 在 node-1 进入临界区，读到库存 100。
A resumed, and its write was held on the way to Redis.          | A 恢复执行，它的写命令在发往 Redis 的途中被拦住。
The lease of A ended.                                           | A 的租期结束。
Other sales arrived at node-2, one after another.                | 其他请求依次到达 node-2。
node-2 sold 3 units in 332 ms.                                  | node-2 在 332 毫秒内卖出 3 件。
The late write of A arrived: the stock went from 97 to 99.      | A 迟到的写命令到达：库存从 97 变为 99。
The connection of node-1 was restored.                          | node-1 的连接恢复。
All sales ended, with 99 left in stock.                         | 所有请求都已结束，剩余库存 99。`,
  },
  {
    cell: ['failover', 'replicated'],
    reads: `
1 replica was in sync with Redis.                         | 1 个副本复制了 Redis 的数据。
Replication was cut.                                        | 复制连接断开。
A was refused, because no replica had confirmed its lock.   | A 被拒绝：没有副本确认它的锁。
Redis was killed, and the replica was promoted.             | Redis 宕机，副本被提升为主节点。
Other sales arrived at node-2, one after another.            | 其他请求依次到达 node-2。
node-2 tried to acquire the lock 4 times in 1 s and sold nothing.  | node-2 在 1 秒内请求加锁 4 次，一件也没有卖出。
A was not inside the critical section, so there was nothing to resume.                       | A 不在临界区内，没有可恢复的操作。
A was refused: NOT_REPLICATED.                              | A 被拒绝：NOT_REPLICATED。
All sales ended, with 100 left in stock.                    | 所有请求都已结束，剩余库存 100。`,
  },
])('what is said of $cell.0 under $cell.1, in both languages', async ({ cell: [name = '', stage = ''], reads }) => {
  const sentences = await said(name, stage);

  const lines = sentences.map((sentence) => [narrated(sentence), narratedInChinese(sentence)]);
  expect(lines).toEqual(
    reads
      .trim()
      .split('\n')
      .map((line) => line.split('|').map((part) => part.trim())),
  );
});
