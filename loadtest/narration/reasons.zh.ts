// Why a verdict is what it is, in Chinese.

import { type Wording, worded } from '../../simulation/wording.ts';
import { durationInChinese, formatMeasure, formatNumber } from './numbers.ts';
import { orderReasonsInChinese } from './order-reasons.zh.ts';
import type { Reason, ReasonForms } from './reasons.ts';

const reasonsInChinese: Wording<ReasonForms> = {
  text: ({ text }) => text,
  page: ({ text, zh }) => zh ?? text,

  // The stock.
  'met and lost nothing': ({ pairs }) =>
    `有 ${pairs} 对销售在同一时刻读到了库存。没有一件被重复卖出：后写的一方被拒绝，或重新开始。`,
  'sold without a write': ({ sales }) => `有 ${formatNumber(sales)} 位买家被告知已卖出，却没有对应的扣减库存的写入。`,
  'units to nobody': ({ units, sold, gone, answer }) =>
    `有 ${units} 件没有卖给任何人：${sold} 个回答说已卖出，而库存少了 ${gone} 件。其余的回答是“${answer}”。`,
  'stock below zero': ({ stock }) => `库存是 ${stock}：拿走的比原有的多。`,
  'others answered': ({ others, answer }) => `另有 ${others} 个得到了别的回答，例如“${answer}”。`,
  'stock too high': ({ stock, most }) => `库存是 ${stock}，最多应为 ${most}。`,
  'units sold to nobody': ({ units }) => `有 ${formatNumber(units)} 件卖给了已断开连接的客户端。`,
  'buyers in doubt': ({ inDoubt, buyers }) => `${buyers} 个买家中有 ${inDoubt} 个不知道自己是否买到。`,

  // Who was inside.
  'two were inside': ({ pairs }) => `有两个持有者同时处于临界区：${formatNumber(pairs)} 对。`,
  'too many inside': ({ most, permits }) =>
    `有 ${formatNumber(most)} 个持有者同时处于临界区，而许可只有 ${formatNumber(permits)} 个。`,
  'too few inside': ({ most, permits }) =>
    `同时处于临界区的持有者最多只有 ${formatNumber(most)} 个，而许可有 ${formatNumber(permits)} 个。`,
  'permits taken': ({ permits }) => `有 ${formatNumber(permits)} 个持有者同时处于临界区，从未超过。`,
  'permit not back': ({ node, ms }) => `${durationInChinese(ms)}后，${node} 仍拿不到最后一个许可。`,
  'got in beside': ({ sale, other }) => `${other} 在临界区内时，${sale} 也进入了。`,
  'was kept out': ({ sale, other }) => `${other} 在临界区内时，${sale} 没能进入，尽管它属于另一个用户。`,
  overtaken: ({ overtaken, waiters, order }) =>
    `${waiters} 个等待者中有 ${overtaken} 个被插队：进入的顺序是 ${order.join('、')}。`,
  starved: ({ others }) => `${others} 个后来者接连插队进入，而且没有上限。`,
  'went in': ({ sale, others }) =>
    others === 0 ? `${sale} 先于所有后来者进入。` : `${sale} 进入之前，有 ${formatNumber(others)} 个后来者插队。`,
  'free lock not entered': ({ node, ms }) => `锁空闲，但 ${node} 上的销售在 ${durationInChinese(ms)}内没有进入。`,

  // Whether a sale took place, and when.
  'could not sell': ({ node, ms }) => `${node} 在 ${durationInChinese(ms)}内没能卖出。`,
  'sold after the fault': ({ node, ms }) => `故障发生 ${durationInChinese(ms)}后，${node} 卖出。`,
  'was sold': ({ sale, ms }) => `${sale} 在 ${durationInChinese(ms)}内卖出。`,
  'was not sold': ({ sale, ms }) => `${sale} 在 ${durationInChinese(ms)}内没有卖出。`,
  'was answered': ({ sale, ms }) => `${sale} 在 ${durationInChinese(ms)}后得到响应。`,
  'waited for itself': ({ sale, ms }) => `${sale} 在等待自己持有的锁：${durationInChinese(ms)}后仍未卖出。`,
  'waited for its own lease': ({ sale, ms }) =>
    `${sale} 在等待自己持有的锁：${durationInChinese(ms)}后，它自己的租期已过。`,

  // Clients that hang up, and what waiting costs.
  'waiters left': ({ ms }) => `${durationInChinese(ms)}后不再有人等待。`,
  'waiters stayed': ({ sales, ms }) =>
    `客户端断开连接 ${durationInChinese(ms)}后，仍有 ${formatNumber(sales)} 笔销售在替它们等待。`,
  'a try keeps': ({ bytesPerTry, tries }) =>
    `每次失败的尝试占用 ${formatMeasure(bytesPerTry)} 字节：${formatNumber(tries)} 次，共 ${formatNumber((bytesPerTry * tries) / 1024)} kB。`,

  // Those who look at the stock.
  'answered too early': ({ node, stock, sale, seller }) =>
    `${node} 返回库存 ${stock}，此时 ${seller} 上的销售 ${sale} 已读取、尚未写入。`,
  'answered an old stock': ({ node, stock, sale, written }) =>
    `${node} 返回库存 ${stock}，而销售 ${sale} 此前已写入 ${written}。`,
  'looker waited': () => '查看库存的请求等到了销售完成。',
  'looker waited for a looker': ({ node, other }) =>
    `查看库存的请求要等待其他只查看库存的请求：${node} 在等 ${other}。`,
  'two looked at once': () => '两个请求同时查看了库存。',
  'entered while another looked': ({ node, reader }) => `${reader} 即将读取库存时，${node} 上有一笔销售进入了临界区。`,

  // Two skus.
  'baskets crossed': ({ baskets, ms }) =>
    `${formatNumber(baskets)} 笔一单多件在 ${durationInChinese(ms)}内没有卖出：双方各持有对方等待的锁。`,
  'baskets not sold': ({ baskets, ms, answers }) =>
    `${formatNumber(baskets)} 笔一单多件在 ${durationInChinese(ms)}内没有卖出：结果是 ${answers.join('、')}。`,
  'crossed baskets sold': ({ sales }) => `${sales.join(' 和 ')} 都卖出了，尽管双方各持有对方想要的锁。`,
  'baskets sold in turn': ({ sales }) => `${sales.join(' 和 ')} 先后卖出。`,
  'stocks of baskets': ({ sold, stocks, expected }) =>
    `卖出 ${sold} 笔一单多件，库存是 ${stocks.join(' 和 ')}，应为 ${expected}。`,

  // Servers that are away.
  'requests cut off': ({ requests }) => `${formatNumber(requests)} 个请求连接中断，或得到无意义的响应。`,
  'an answer took': ({ ms, limitMs }) =>
    `服务器不可用期间，有买家等了 ${durationInChinese(ms)}才得到响应，上限是 ${durationInChinese(limitMs)}。`,
  'slowest answer': ({ ms }) => `服务器不可用期间，一次响应最多用了 ${durationInChinese(ms)}。`,
  'no sale after SIGSTOP': ({ limitMs }) => `Redis 停顿（SIGSTOP）：恢复后 ${durationInChinese(limitMs)}内没有卖出。`,
  'no sale after SIGKILL': ({ limitMs }) => `Redis 被杀死（SIGKILL）：重启后 ${durationInChinese(limitMs)}内没有卖出。`,
  'key stayed': ({ key, ms }) =>
    `键 ${key} 还在，${ms === null ? '没有过期时间' : `${durationInChinese(ms)}后才过期`}。`,
  'sales flowed again': ({ ms }) => `Redis 恢复 ${durationInChinese(ms)}后，销售恢复。`,
  'sold without a minority': ({ killed, ms }) => `缺少 ${killed} 台服务器时，${durationInChinese(ms)}后销售继续。`,
  'nothing sold without a minority': ({ killed, limitMs }) =>
    `缺少 ${killed} 台服务器、多数派仍在时，${durationInChinese(limitMs)}内没有卖出。`,
  'single point of failure': () => '这把锁只有一台服务器：它是单点故障。',
  'sold without a majority': ({ sold }) => `没有多数派时，仍有 ${formatNumber(sold)} 笔销售开始并卖出。`,
  'refused without a majority': ({ refused, ms, codes }) =>
    `没有多数派时谁也没有卖出：${formatNumber(refused)} 位买家得到 ${codes.join('、')}，最多用了 ${durationInChinese(ms)}。`,
  'no sale after the majority': ({ limitMs }) => `多数派恢复后 ${durationInChinese(limitMs)}内没有卖出。`,
  'sold after the majority': ({ ms }) => `多数派恢复 ${durationInChinese(ms)}后，销售恢复。`,
  'sales not made': ({ unsold, sales }) => `${sales} 笔销售中有 ${unsold} 笔没有成交。`,
  'sales slowed down': ({ ms }) => `有主节点不可用时，每笔销售多用 ${durationInChinese(ms)}。`,
  'sales kept their pace': ({ ms, slowestMs }) =>
    `每笔销售多用 ${durationInChinese(ms)}，最慢的一笔用了 ${durationInChinese(slowestMs)}。`,

  // The commands of a release.
  'key of its own': ({ key }) => `它把数据存在了“${key}”下：请使用传给它的键，其他键名要以这个键开头。`,
  'release without the key': () => '它释放锁时，没有发出带锁的键的命令。',
  'each command was late': ({ commands }) => `释放锁的每条命令都迟到过一次：${commands.join('、')}。`,
  'commands not held': ({ commands }) => `其后还有 ${formatNumber(commands)} 条命令没有被拦住。`,

  // A load.
  'stock as expected': ({ sold, stock }) =>
    `卖出 ${formatNumber(sold)} 件 · 库存 ${formatNumber(stock)}，正确 · 没有重复卖出。`,
  'stock not as expected': ({ sold, stock, expected, soldTwice }) =>
    `卖出 ${formatNumber(sold)} 件 · 库存 ${formatNumber(stock)}，应为 ${formatNumber(expected)} · 重复卖出 ${formatNumber(soldTwice)} 件。`,
  'oversold to the last': ({ sold, units, oversold }) =>
    `卖出 ${formatNumber(sold)} 件，共有 ${formatNumber(units)} 件 · 库存 0 · 超卖 ${formatNumber(oversold)} 件。`,
  oversold: ({ sold, units, stock, oversold }) =>
    `卖出 ${formatNumber(sold)} 件，共有 ${formatNumber(units)} 件 · 库存 ${formatNumber(stock)}，应为 0 · 超卖 ${formatNumber(oversold)} 件。`,
  'holders met': ({ overlaps }) => `有两个持有者同时处于临界区：${formatNumber(overlaps)} 次。`,
  'lock unused': ({ ms }) => `有销售在等待，却有 ${durationInChinese(ms)}无人持有锁。`,
  'lock unused and sales refused': ({ ms, refused, sent }) =>
    `有销售在等待，却有 ${durationInChinese(ms)}无人持有锁。${formatNumber(sent)} 笔中有 ${formatNumber(refused)} 笔被拒绝。`,
  'load too long': ({ ms, answers, requests }) =>
    `压测在 ${durationInChinese(ms)}的上限处停止：${formatNumber(requests)} 笔销售中有 ${formatNumber(answers)} 笔得到响应。`,
  'sales in doubt': ({ inDoubt }) => `有 ${formatNumber(inDoubt)} 笔销售结果不明，而且没有故障能解释。`,

  // An account that does not close.
  'not all sent': ({ sent, requests }) => `发出 ${sent} 个请求，应为 ${requests} 个。`,
  'not all answered': ({ sent, answers, errors }) =>
    `发出 ${sent} 个请求，但只有 ${answers} 个得到响应，${errors} 个出错。`,
  'not all received': ({ sent, received }) => `发出 ${sent} 个请求，但各节点共收到 ${received} 个。`,
  'not all accounted for': ({ sent, counted }) => `发出 ${sent} 个请求，但只有 ${counted} 个有明确去向。`,
  'answers made no sense': ({ answers, sample }) => `有 ${answers} 个响应没有意义，例如：${sample}`,
  'sales failed': ({ failed }) => `有 ${failed} 笔销售失败，而且没有故障能解释：设置 LOG_LEVEL=info 可查看节点日志。`,
  'too many refused': ({ refused, sent }) => `${sent} 笔销售中有 ${refused} 笔被拒绝，因为没有及时等到锁。`,
  'events forgotten': ({ events }) => `有 ${events} 个事件没有保留，无法统计持有时间的重叠：请调小 --requests。`,
  'sales in flight': ({ sales }) => `结束时仍有 ${sales} 笔销售在进行。`,
  'nodes counted others sold': ({ sold, inDoubt, counted }) =>
    `${sold} 笔销售得到成交响应，${inDoubt} 笔结果不明，但各节点共计卖出 ${counted} 件。`,
  'nodes recorded other writes': ({ counted, written }) =>
    `各节点共计卖出 ${counted} 件，但记录了 ${written} 次库存写入。`,
  'stock too low': ({ stock, expected }) => `库存是 ${stock}，低于销售所能解释的 ${expected}。`,
  'losses unexplained': ({ units }) => `重复卖出 ${units} 件，但没有两笔销售读到相同的库存。`,
  'nothing sold': () => '没有卖出任何一件。',
  'nothing sold by': ({ nodes }) => `${nodes.join(' 和 ')} 没有卖出任何一件。`,
  'sales never met': () => '从未有两笔销售同时进行，因此什么也没有检验到。',

  // What the nodes recorded of an external lock.
  'lock failed': ({ error }) => `没有成交任何销售：${error}`,
  'lock failed at times': ({ failed, asked, error }) =>
    `${formatNumber(asked)} 笔销售中有 ${formatNumber(failed)} 笔失败：${error}`,
  'lock given to nobody': () => '没有成交任何销售：acquire() 没有让任何人获得锁。',
  'most were refused': ({ refused, asked }) =>
    `${formatNumber(asked)} 笔销售中有 ${formatNumber(refused)} 笔被拒绝：没有及时等到锁。`,
  'nothing to break': () => '这把锁没有这个场景可以破坏的地方。',

  // What was not played, and what came to no end.
  'nothing to break under': ({ stage }) => `${stage} 没有这个场景可以破坏的地方。`,
  'no semaphore': ({ stage }) => `${stage} 不是信号量：一次只让一个持有者进入。`,
  'takes no lease': ({ stage }) => `${stage} 不能为一笔销售单独指定租期。`,
  'locks no user': ({ stage }) => `${stage} 的销售外面没有可以按用户加的锁。`,
  'no masters vote': ({ stage }) => `${stage} 不由多个主节点投票。`,
  'no memory of its own': () => '模拟的进程没有自己的内存，请用 `-- --real` 运行。',
  'server not simulated': () => '模拟里没有这样的服务器。',
  'one command sells': () => '它用一条命令扣减库存：没有销售会处在读和写之间。',
  'traffic unreadable': () =>
    '它和 MySQL 的连接用了 TLS 或压缩，无法停住销售：请让它不用这些连接，例如 sslMode=DISABLED。',
  'lock elsewhere': () => '它的锁不在 Redis 里。',
  'servers not simulated': () => '模拟里没有它的服务器，请用 `-- --real` 运行。',
  'clock server without a replica': () => '内嵌的 Valkey 可以拨动时钟，但没有副本。',
  'no further': ({ ms }) => `场景没有进展：${durationInChinese(ms)}内没有任何动静。`,
  'no end': ({ lock }) => `使用锁 ${lock} 的场景一直没有结束。`,
  'machine too busy': ({ ms }) => `机器太忙：有 ${durationInChinese(ms)}没有任何进展。`,
  ...orderReasonsInChinese,
};

/** The sentence in Chinese. */
export const reasonedInChinese = (reason: Reason): string => worded<ReasonForms>(reasonsInChinese, reason);
