// What happened in a step of a scenario, in Chinese.

import { type FormsOf, type Wording, worded } from '../../simulation/wording.ts';
import { durationInChinese, formatNumber } from './numbers.ts';
import { orderStepsInChinese } from './order-steps.zh.ts';
import { reasonedInChinese } from './reasons.zh.ts';
import type { lockSteps, StepForms, StepSentence } from './steps.ts';

const listed = (skus: string[]) => skus.join(' 和 ');

const lacks = (lock: StepForms['failed over']['forgot']) =>
  lock ? `它缺少一条 Redis 已经确认的写入：${lock.owner} 的锁 ${lock.key}。` : '';

const commands = { write: '写命令', release: '释放命令' };

const lockStepsInChinese: Wording<FormsOf<typeof lockSteps>> = {
  text: ({ text }) => text,

  // A sale comes, and gets in or does not.
  came: ({ sale, node }) => `${sale} 的请求到达 ${node}。`,
  'came for': ({ sale, node, ms }) => `${sale} 的请求到达 ${node}，业务要执行 ${durationInChinese(ms)}。`,
  'came for a user': ({ sale, node, user }) => `${sale} 的请求到达 ${node}，用户是 ${user}。`,
  'came to wait at most': ({ sale, node, ms, waitMs }) =>
    `${sale} 的请求到达 ${node}，业务要执行 ${durationInChinese(ms)}，最多等待 ${durationInChinese(waitMs)}。`,
  'came under a lease': ({ sale, node, ms, leaseMs }) =>
    `${sale} 的请求到达 ${node}，业务要执行 ${durationInChinese(ms)}，指定租期 ${durationInChinese(leaseMs)}。`,
  'asked for the lock': ({ sale, node }) => `${sale} 在 ${node} 请求加锁。`,
  waited: ({ sale, node }) => `${sale} 在 ${node} 请求加锁，开始等待。`,
  'got in': ({ sale, node, stock }) => `${sale} 在 ${node} 进入临界区，读到库存 ${formatNumber(stock)}。`,
  read: ({ sale, node, stock }) => `${sale} 在 ${node} 读到库存 ${formatNumber(stock)}。`,
  began: ({ sale, node }) => `${sale} 在 ${node} 开始执行。`,
  'forgot a release': ({ sale, node }) => `${sale} 在 ${node} 卖出一件：加锁两次，只解锁一次。`,
  'gave up': ({ sale, tries, ms }) =>
    `${sale} 在 ${durationInChinese(ms)}内请求加锁 ${formatNumber(tries)} 次，未成功，放弃等待。`,
  'waited in vain': ({ sale, ms }) => `${sale} 等待了 ${durationInChinese(ms)}，放弃等待。`,
  'lock not confirmed': ({ sale }) => `${sale} 被拒绝：没有副本确认它的锁。`,

  // A sale stays inside, resumes and ends.
  stalled: ({ sale }) => `${sale} 在临界区内停顿。`,
  hung: ({ sale }) => `${sale} 卡死，进程仍然存活。`,
  'was still inside': ({ sale }) => `${sale} 仍在临界区内。`,
  resumed: ({ sale }) => `${sale} 恢复执行。`,
  'had nothing to resume': ({ sale }) => `${sale} 不在临界区内，没有可恢复的操作。`,
  'blocked the event loop': ({ sale, node }) => `${sale} 恢复执行，阻塞了 ${node} 的事件循环。`,
  'was told that it had sold': ({ sale }) => `${sale} 得到的回答是：卖出一件。`,
  sold: ({ sale, before, after }) => `${sale} 卖出一件：库存从 ${formatNumber(before)} 变为 ${formatNumber(after)}。`,
  'sold a basket': ({ sale, skus }) => `${sale} 卖出 ${listed(skus)}。`,
  'was answered': ({ sale, remaining }) => `${sale} 得到响应：库存 ${formatNumber(remaining)}。`,
  'was refused': ({ sale, code }) => `${sale} 被拒绝：${code}。`,
  'was left in doubt': ({ sale, code }) => `${sale} 收到 ${code}，无法确定是否已卖出。`,
  'was answered nonsense': ({ sale }) => `${sale} 得到的响应无法解析。`,
  'got no answer': ({ sale, ms }) => `${sale} 没有得到响应：它的连接在 ${durationInChinese(ms)}后关闭。`,
  'had given up': ({ sale }) => `${sale} 此前已放弃等待。`,
  'all ended': ({ left }) => `所有请求都已结束，剩余库存 ${formatNumber(left)}。`,

  // Others sell.
  'others came': ({ node }) => `其他请求依次到达 ${node}。`,
  'others sold': ({ node, sold, ms }) => `${node} 在 ${durationInChinese(ms)}内卖出 ${formatNumber(sold)} 件。`,
  'others asked in vain': ({ node, tries, ms }) =>
    `${node} 在 ${durationInChinese(ms)}内请求加锁 ${formatNumber(tries)} 次，一件也没有卖出。`,
  'others sold nothing': ({ node, ms }) => `${node} 在 ${durationInChinese(ms)}内一件也没有卖出。`,
  'sales slowed': ({ node, ms }) => `${node} 之后的每次业务要执行 ${durationInChinese(ms)}。`,
  'sales held': ({ node }) => `${node} 之后的请求进入临界区后都会停住。`,
  'buyers began': ({ buyers, ms }) => `${buyers} 个买家开始反复购买，每次业务执行 ${durationInChinese(ms)}。`,
  'buyers stopped': () => '买家停止购买。',
  'buyers waited': ({ buyers, node }) => `${buyers} 个买家在 ${node} 等待加锁。`,
  'buyers hung up': ({ buyers }) => `${buyers} 个买家断开连接，他们的请求都不再等待。`,
  'buyers hung up in vain': ({ buyers, waiting }) => `${buyers} 个买家断开连接，仍有 ${waiting} 个请求在等待。`,
  'others inside or waiting': ({ node, inside, waiting }) =>
    `${node} 有 ${formatNumber(inside)} 笔销售进入临界区，${formatNumber(waiting)} 笔在等待。`,
  'others resumed': ({ node, sales }) => `${node} 的 ${formatNumber(sales)} 笔销售恢复执行。`,
  'asking began': ({ node }) => `${node} 的买家不断请求加锁。`,
  'asked often': ({ node, tries, ms }) => `${node} 在 ${durationInChinese(ms)}内请求加锁 ${formatNumber(tries)} 次。`,
  'time passed': ({ ms }) => `过了 ${durationInChinese(ms)}。`,

  // Others go first.
  'others came first': ({ sale, node }) => `${sale} 等待期间，其他请求到达 ${node}。`,
  'was passed over': ({ sale, others }) => `另有 ${others} 个请求先进入，${sale} 仍在等待。`,
  'was overtaken': ({ sale, others }) => `另有 ${others} 个请求先于 ${sale} 进入。`,
  'was not overtaken': ({ sale }) => `没有请求先于 ${sale} 进入。`,

  // Processes.
  killed: ({ node }) => `${node} 宕机（SIGKILL）。`,
  paused: ({ node }) => `${node} 停顿（SIGSTOP）。`,
  'process resumed': ({ node }) => `${node} 恢复（SIGCONT）。`,

  // Connections.
  'write held': ({ sale }) => `${sale} 恢复执行，它的写命令在发往 Redis 的途中被拦住。`,
  'release held': ({ sale }) => `${sale} 恢复执行，它的释放命令在途中被拦住。`,
  'write of the node held': ({ sale, node }) => `${sale} 恢复执行，${node} 的下一条写命令在发往 Redis 的途中被拦住。`,
  'answers delayed': ({ node, ms }) => `${node} 的连接变慢：Redis 的每个响应都延迟 ${durationInChinese(ms)}。`,
  'cut off': ({ node }) => `${node} 与锁服务器断开连接。`,
  'reached its lock again': ({ node }) => `${node} 重新连上锁服务器。`,
  'connection restored': ({ node }) => `${node} 的连接恢复。`,
  'late write': ({ sale, before, after }) =>
    `${sale} 迟到的写命令到达：库存从 ${formatNumber(before)} 变为 ${formatNumber(after)}。`,
  'late write refused': ({ sale, stock }) => `${sale} 迟到的写命令到达，被拒绝：库存仍为 ${formatNumber(stock)}。`,
  'late write of the node': ({ node }) => `${node} 迟到的写命令到达。`,
  'late release': ({ sale }) => `${sale} 迟到的释放命令到达。`,
  'release round': ({ round, command }) => `第 ${round} 轮开始：迟到的命令是 ${command}。`,

  // Leases and clocks.
  'lease renewed': ({ sale }) => `${sale} 的租期已续期。`,
  'lease ended': ({ sale }) => `${sale} 的租期结束。`,
  'lease has no end': ({ sale }) => `${sale} 的锁没有设置过期时间，不会自动过期。`,
  'no lease': ({ sale }) => `${sale} 没有可以到期的租期。`,
  'clock slowed': ({ node, percent }) => `${node} 的时钟变慢 ${percent}%。`,
  'clock lent': ({ master }) => `一台可以拨动时钟的服务器取代了${master ? `主节点 ${master}` : ' Redis'}。`,
  'clock jumped': ({ master, ms }) =>
    `${master ? `主节点 ${master}` : 'Redis'} 的时钟向前跳变 ${durationInChinese(ms)}。`,

  // Redis and its replicas.
  'replicas copied': ({ replicas }) => `${replicas} 个副本复制了 Redis 的数据。`,
  'replication cut': ({ replica }) => `${replica ? `到副本 ${replica} 的` : ''}复制连接断开。`,
  'replica caught up': ({ replica }) => `副本 ${replica} 收到了全部写入。`,
  'failed over': ({ replica, forgot }) =>
    `Redis 宕机，副本${replica ? ` ${replica} ` : ''}被提升为主节点。${lacks(forgot)}`,
  'failed over by itself': ({ server, ms, forgot }) =>
    `Redis 宕机。${server} 被选为主节点，${durationInChinese(ms)}后两个节点都连上了它。${lacks(forgot)}`,
  'Redis paused': () => 'Redis 停顿（SIGSTOP）。',
  'Redis resumed': () => 'Redis 恢复（SIGCONT）。',
  'Redis found again': ({ node, ms }) => `Redis 恢复。${durationInChinese(ms)}后，${node} 的连接恢复。`,
  'Redis found again by the other': ({ node, other }) =>
    `Redis 恢复。${other} 的一个请求进入临界区，之后 ${node} 的连接恢复。`,
  'Redis killed': () => 'Redis 宕机（SIGKILL）。',
  'Redis started again': ({ ms }) => `Redis 在 ${durationInChinese(ms)}后带着原有数据重启。`,
  'Redis spared': () => '这个 Redis 重启后不保留数据，因此没有让它宕机。',
  'shop closed': () => '商店尚未恢复售卖，跳过这一步。',
  'units sold': ({ sold, ms }) => `${durationInChinese(ms)}内卖出 ${formatNumber(sold)} 件。`,
  'sales resumed': ({ ms }) => `Redis 恢复 ${durationInChinese(ms)}后，售卖恢复。`,
  'no sale in time': ({ ms }) => `Redis 恢复后 ${durationInChinese(ms)}内一件也没有卖出。`,
  'no new outage': () => '没有新的故障需要恢复。',

  // The servers of the lock.
  'minority killed': ({ killed, servers }) => `锁的 ${servers} 台服务器中有 ${killed} 台宕机（SIGKILL）。`,
  'no minority': () => '这把锁只有一台服务器，没有少数派可以宕机。',
  'no server missing': () => '锁的服务器一台也不少。',
  'sales went on': ({ ms }) => `${durationInChinese(ms)}后卖出了一件。`,
  'sales did not go on': ({ ms }) => `${durationInChinese(ms)}内一件也没有卖出。`,
  'majority killed': ({ killed, servers }) =>
    servers === 1
      ? '锁唯一的服务器宕机（SIGKILL）。'
      : `又有一台宕机（SIGKILL）：锁的 ${servers} 台服务器中已有 ${killed} 台宕机，多数派不复存在。`,
  'lock servers started again': ({ servers, ms }) => `${durationInChinese(ms)}后，锁的 ${servers} 台服务器重新启动。`,

  // Masters that vote.
  'master paused': ({ master }) => `主节点 ${master} 停顿（SIGSTOP）。`,
  'bare majority': ({ node, quorum, masters }) => `${node} 只能连上 ${masters} 个主节点中的 ${quorum} 个。`,
  'all masters': ({ node, masters }) => `${node} 重新连上全部 ${masters} 个主节点。`,
  'no masters to cut': () => '这把锁没有多个主节点，没有断开任何连接。',
  'nothing to reconnect': ({ node }) => `${node} 的连接从未断开。`,
  votes: ({ sale, votes, masters }) => `${sale} 得到 ${masters} 票中的 ${votes} 票。`,
  'no votes': () => '这把锁没有多个主节点，无需投票。',
  'master forgot': ({ master }) => `主节点 ${master} 重启后数据为空。`,
  'votes delayed': ({ sale, node, ms }) => `${sale} 在 ${node} 请求投票，响应延迟 ${durationInChinese(ms)}。`,
  'votes came': ({ sale, ms }) => `投给 ${sale} 的票在 ${durationInChinese(ms)}后到达。`,
  'round began': ({ sales }) => `连续 ${sales} 个请求中的第一个到达。`,
  'round sold': ({ sold, sales, ms }) => `${sales} 个请求中卖出 ${sold} 件，耗时中位数 ${durationInChinese(ms)}。`,

  // Two skus, and those who only look.
  'sku added': ({ sku }) => `商店上架了 sku ${sku}。`,
  'basket held': ({ sale, node, skus, first }) =>
    `${sale} 在 ${node} 购买 ${listed(skus)}，拿到 ${first} 的锁，在申请另一把锁之前停住。`,
  'basket waited': ({ sale, node, skus, first }) => `${sale} 在 ${node} 购买 ${listed(skus)}，等待 ${first} 的锁。`,
  'came to look': ({ sale, node }) => `${sale} 的库存查询到达 ${node}。`,
  'look asked for the lock': ({ sale, node }) => `${sale} 在 ${node} 为查询库存请求加锁。`,
  'look held': ({ sale, node }) => `${sale} 在 ${node} 停在读取库存之前。`,
  'look waited': ({ sale, node, ms }) => `${sale} 在 ${node} 等待了 ${durationInChinese(ms)}，仍未读取库存。`,

  // The drill itself.
  'run again': ({ why }) => {
    // What has no form of its own is English.
    const isKnown = why.every(({ form }) => form !== 'text');
    return `${isKnown ? why.map(reasonedInChinese).join('') : '场景没有按预期发生。'}场景重新运行。`;
  },
  'run again on a busy machine': ({ ms }) => `机器太忙：${durationInChinese(ms)}内没有任何进展。场景重新运行。`,

  // Free play.
  'free play began': ({ units }) => `自由操作开始，库存 ${formatNumber(units)}。`,
  'came to be held': ({ sale, node }) => `${sale} 的请求到达 ${node}，进入临界区后会停住。`,
  'came to block': ({ sale, node }) => `${sale} 的请求到达 ${node}，阻塞了它的事件循环。`,
  'sale of the node resumed': ({ node }) => `${node} 上的请求恢复执行。`,
  'command to be held': ({ node, command }) => `${node} 的下一条${commands[command]}将被拦住。`,
  'command let go': ({ node, command }) => `${node} 的${commands[command]}被放行。`,
  'started again': ({ node }) => `${node} 重新启动。`,
  'rush came': ({ buyers }) => `${buyers} 个买家的请求经 nginx 到达。`,
  'Redis restarted': () => 'Redis 重新启动。',
  'replica cut off': () => 'Redis 有了一个副本，两者之间的复制连接断开。',
  'replica took over': () => 'Redis 切换到副本。',
};

const stepsInChinese: Wording<StepForms> = { ...lockStepsInChinese, ...orderStepsInChinese };

/** The sentence in Chinese. */
export const narratedInChinese = (sentence: StepSentence): string => worded<StepForms>(stepsInChinese, sentence);
