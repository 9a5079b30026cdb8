// The sentences of the scenarios in Chinese, by their form.

import { filled } from './texts.ts';
import { ofVerdicts } from './verdict-sentences.ts';

export const sentences: Record<string, string> = {
  '{a} sells at {node}': '{a} 在 {node} 卖一件',
  '{a} sells at {node} for {time}': '{a} 在 {node} 卖一件,要用 {time}',
  '{a} sells at {node} and is held inside': '{a} 在 {node} 卖一件,停在锁里面',
  '{a} sells at {node} and is held inside, or waits for {time}': '{a} 在 {node} 卖一件,停在锁里面,或者等待 {time}',
  '{a} sells at {node} for {time} and is inside': '{a} 在 {node} 卖一件,要用 {time},已在锁里面',
  '{a} sells at {node}, and gives up after {time}': '{a} 在 {node} 卖一件,等 {time} 后放弃',
  '{a} sells at {node} for {time}, and is held before it asks again by the same lock object':
    '{a} 在 {node} 卖一件,要用 {time};它将用同一个锁对象再次申请锁,先停在这之前',
  '{a} sells at {node} for {time}, and is held before it asks again by another lock object':
    '{a} 在 {node} 卖一件,要用 {time};它将用另一个锁对象再次申请锁,先停在这之前',
  '{a} sells at {node}, computes, and blocks its event loop': '{a} 在 {node} 卖一件,一直计算,阻塞了事件循环',
  'the next release of {node} is held on its way': '{node} 的下一条释放命令会卡在路上',
  'the next write of {node} is held on its way': '{node} 的下一条写命令会卡在路上',
  'the release of {node} is let go': '{node} 的释放命令被放行',
  'the sale on {node} goes on': '{node} 上的销售继续',
  '{count} buyers come through nginx': '{count} 个买家经 nginx 而来',
  '{node} is started again': '{node} 重新启动',
  '{node} is cut off from Redis and from the servers of its lock': '{node} 与 Redis 和它的锁服务器断开',
  '{node} reaches its servers again': '{node} 又能连上它的服务器',
  'Redis is stopped (SIGSTOP)': 'Redis 被暂停(SIGSTOP)',
  'Redis goes on (SIGCONT)': 'Redis 恢复运行(SIGCONT)',
  'Redis is killed (SIGKILL)': 'Redis 被杀死(SIGKILL)',
  'Redis is started again': 'Redis 重新启动',
  'Redis gets a replica, and the line between them is cut': 'Redis 有了一个副本,两者之间的线路断开',
  'Redis is gone, and the replica takes its place': 'Redis 没了,副本接替它',
  '{a} goes on': '{a} 继续',
  '{a} goes on, and its release is held up on the line to Redis': '{a} 继续,它的释放命令卡在去 Redis 的路上',
  '{a} goes on, and its write is held up on the line to Redis': '{a} 继续,它的写命令卡在去 Redis 的路上',
  '{a} stalls inside the sale': '{a} 卡在这笔销售里',
  '{a} ends': '{a} 结束',
  '{a} ends, or gives up after {time}': '{a} 结束,或在 {time} 后放弃',
  'the lease of {a} ends': '{a} 的租期结束',
  'the release of {a} arrives': '{a} 的释放命令到达',
  'the next sales at {node} take {time} each': '{node} 接下来的每笔销售用 {time}',
  '{count} buyers come again and again, each for {time}': '{count} 个买家反复来买,每次用 {time}',
  'the buyers stop': '买家不再来了',
  '{time} pass': '过了 {time}',
  '{time} passes': '过了 {time}',
  '{node} has its line again': '{node} 的线路恢复',
  '{node} is killed (SIGKILL)': '{node} 被杀死(SIGKILL)',
  '{node} is about to sell. It is killed in the middle of it.': '{node} 正要卖货。它卖到一半被杀死。',
  'all sales end': '所有销售结束',
  '{a} sells at {node} and is held inside, to compute for {time} after it':
    '{a} 在 {node} 卖一件,停在锁里面;之后它要计算 {time}',
  '{a} sells at {node} and is held inside, or is refused': '{a} 在 {node} 卖一件,停在锁里面,或者被拒绝',
  '{a} sells at {node} for {time}, and its votes come {late} late':
    '{a} 在 {node} 卖一件,要用 {time},它的票迟到 {late}',
  '{a} goes on, and its node answers nothing': '{a} 继续,它的节点什么也不回答',
  '{a} goes on, and the next write of {node} is held up on the line to Redis':
    '{a} 继续,{node} 的下一条写命令卡在去 Redis 的路上',
  '{a} hangs, and its process lives': '{a} 挂住,它的进程还活着',
  '{a} is still inside': '{a} 还在锁里面',
  '{a} ends, sold': '{a} 结束,已卖出',
  '{a} ends, sold or not replicated': '{a} 结束,已卖出,或因没有复制而被拒绝',
  '{a} has the votes of a bare majority': '{a} 有刚好过半的票',
  '{a} has the votes of a bare majority, if there are masters': '{a} 有刚好过半的票(如果有多个主节点)',
  'the votes for {a} have come': '投给 {a} 的票到了',
  'the write of {a} arrives': '{a} 的写命令到达',
  'the write of {node} arrives': '{node} 的写命令到达',
  '{node} sells what it can, for {time}': '{node} 能卖就卖,持续 {time}',
  '{node} sells what it can, for {time}, while {a} is inside': '{node} 能卖就卖,持续 {time},此时 {a} 在锁里面',
  '{count} buyers come to {node}, and wait': '{count} 个买家来到 {node},开始等待',
  'the buyers hang up': '买家挂断了连接',
  '{count} sales come one after the other': '{count} 笔销售一笔接一笔',
  '{node} tries {count} times, for {time} at most': '{node} 尝试 {count} 次,最多 {time}',
  '{node} tries {count} times, for {time} at most, and its memory is measured':
    '{node} 尝试 {count} 次,最多 {time},并测量内存',
  '{node} is stopped (SIGSTOP)': '{node} 被暂停(SIGSTOP)',
  '{node} goes on (SIGCONT)': '{node} 恢复运行(SIGCONT)',
  '{node} is cut off from the servers of its lock': '{node} 与它的锁服务器断开',
  '{node} reaches the servers of its lock again': '{node} 又能连上它的锁服务器',
  '{node} reaches a bare majority of the masters': '{node} 只能连上刚好过半的主节点',
  '{node} reaches a bare majority of the masters, if there are any': '{node} 只能连上刚好过半的主节点(如果有)',
  '{node} reaches all masters again': '{node} 又能连上所有主节点',
  'a master of that majority restarts empty': '该多数派中的一个主节点重启,数据为空',
  'master {count} is stopped (SIGSTOP)': '主节点 {count} 被暂停(SIGSTOP)',
  'the clock of a server of the lock can be set': '锁的一台服务器的时钟可以拨动',
  'the clock of that server jumps ahead by a lease and {time}': '那台服务器的时钟向前跳一个租期加 {time}',
  'the clock of {node} runs {count} % slow': '{node} 的时钟慢 {count}%',
  'a replica copies all that Redis holds': '一个副本复制 Redis 的全部数据',
  'two replicas copy all that Redis holds': '两个副本复制 Redis 的全部数据',
  'the line to the replica is cut': '到副本的线路断开',
  'the line to the second replica is cut': '到第二个副本的线路断开',
  'the first replica hears of it': '第一个副本收到了',
  'Redis is killed, and the replica takes its place': 'Redis 被杀死,副本接替它',
  'the shop sells sku {sku}, too': '商店也卖 sku {sku}',
  '{a} sells a basket of {sku} and {other} at {node}, and is held before its second lock':
    '{a} 在 {node} 卖一篮 {sku} 和 {other},停在第二把锁之前',
  '{a} sells a basket of {sku} and {other} at {node}, and is held before its second lock, or waits':
    '{a} 在 {node} 卖一篮 {sku} 和 {other},停在第二把锁之前,或者等待',
  '{a} looks at the stock at {node}, and asks for the lock or is answered': '{a} 在 {node} 查看库存,申请锁或得到回答',
  '{a} looks at the stock at {node}, and is held before it reads': '{a} 在 {node} 查看库存,停在读取之前',
  '{a} looks at the stock at {node}, and is held before it reads, or waits for {time}':
    '{a} 在 {node} 查看库存,停在读取之前,或者等待 {time}',
  'the line of {node} is slow: each answer of Redis comes {time} late': '{node} 的线路很慢:Redis 的每个回答迟到 {time}',
  '{a} sells at {node}, and asks for the lock': '{a} 在 {node} 卖一件,申请锁',
  '{a} sells at {node}, and waits': '{a} 在 {node} 卖一件,正在等待',
  '{count} others look at the stock at {node}, as long as {a} waits: each when the one before is about to read':
    '{a} 等待期间,另有 {count} 个在 {node} 查看库存:前一个快要读取时,后一个才来',
  'there are {count} units in stock': '库存有 {count} 件',
  '{count} are sold, within {time}': '卖出 {count} 件,不超过 {time}',
  'Redis stands still (SIGSTOP) for {time}, and {node} finds it again when one of the other node is held inside, or {late} later':
    'Redis 停住(SIGSTOP){time};另一个节点有一笔销售停在锁里面时,或者再过 {late},{node} 才重新连上它',
  'sales flow again, or not within {time}': '销售恢复,或者 {time} 内没有恢复',
  'Redis is killed (SIGKILL), and starts again with its data after {time}':
    'Redis 被杀死(SIGKILL),{time} 后带着数据重新启动',
  'the next sales at {node} are held inside': '{node} 接下来的销售停在锁里面',
  '{count} times, as long as {a} waits: its node is cut off, the next one enters at {node}, and another comes there':
    '{a} 等待期间,重复 {count} 次:它的节点被断开,下一个在 {node} 进入,那里又来一个',
  'Redis is killed, and the second replica takes its place': 'Redis 被杀死,第二个副本接替它',
};

const TIME = String.raw`[\d./]+ (?:leases?|ms|s)`;
const gaps: Record<string, string> = {
  a: '[A-Z]',
  b: '[A-Z]',
  node: 'node-[12]',
  count: String.raw`\d+`,
  time: TIME,
  late: TIME,
  sku: String.raw`\d{3}`,
  other: String.raw`\d{3}`,
  sold: String.raw`\d+`,
  left: String.raw`\d+`,
  number: String.raw`[\d.]+`,
  command: '.+',
  reply: '.+',
  channel: '.+',
  text: '.+',
};

const units: Record<string, string> = { lease: ' 个租期', leases: ' 个租期', ms: ' 毫秒', s: ' 秒' };

// The longest form first: it says most.
const forms = Object.entries({ ...sentences, ...ofVerdicts }).toSorted(([one], [other]) => other.length - one.length);
const patterns = forms.map(([form, chinese]) => {
  const literal = form.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  const known = new Set<string>();
  const gapOf = (_: string, gap: string) => {
    const isKnown = known.has(gap);
    known.add(gap);
    return isKnown ? `\\k<${gap}>` : `(?<${gap}>${gaps[gap]})`;
  };
  return { pattern: new RegExp(`^${literal.replace(/\{(\w+)\}/g, gapOf)}$`), chinese };
});

/** A line of a scenario or of the search in Chinese; of a line in parts each. Undefined when a form is not known. */
export function inChinese(line: string): string | undefined {
  const parts = line.split(' · ').map(partInChinese);
  return parts.includes(undefined) ? undefined : parts.join(' · ');
}

function partInChinese(line: string): string | undefined {
  for (const { pattern, chinese } of patterns) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const { groups = {} } = found;
    const inUnits = Object.entries(groups).map(([gap, value]) => [
      gap,
      value.replace(/ (leases?|ms|s)$/, (_, unit) => units[unit] ?? ''),
    ]);
    return filled(chinese, Object.fromEntries(inUnits)).replace(/(?<=[期秒]) (?=[一-龥])/g, '');
  }
  return undefined;
}
