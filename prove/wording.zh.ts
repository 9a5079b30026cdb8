// Chinese sentences of the model checker.

import { type Wording, worded } from '../simulation/wording.ts';
import type {
  Clause,
  ClauseForms,
  Difference,
  DifferenceForms,
  HappeningForms,
  Leftover,
  LeftoverForms,
  ReadCommand,
  ScopeName,
  SearchSentence,
  SearchWording,
  ToldWording,
} from './wording.ts';
import { isCommand } from './wording.ts';

const scopesInChinese: Record<ScopeName, string> = {
  plain: '不制造故障。',
  'lost-wakeup': '不制造故障；锁空闲时不允许有人还在等待。',
  'script-cache-empty': '服务器还没有缓存任何脚本。',
  'crashed-holder': '一个持有者宕机。',
  'slow-holder': '一个持有者停顿；它之后的操作不能影响下一个持有者。',
  'late-release': '一条释放命令滞留在网络中；它不能影响下一个持有者。',
  'nested-call': '一个持有者再次申请自己的锁。',
  'nested-object': '一个持有者通过同一请求的另一个锁对象再次申请锁。',
  'nested-long-sale': '一个持有者再次申请自己的锁并释放这一次，然后再工作两个半租期。',
  'long-sale': '每笔销售持续两个半租期。',
  'paused-process': '一个持有者停顿。即便如此，一件货也不应卖两次。',
  'late-write': '一条写命令滞留在网络中，直到另一笔销售写入库存。',
  'crossed-write': '一条写命令滞留在网络中，直到另一笔销售已读库存、尚未写入。',
  'early-read': '一个进程销售；其他进程只查看库存，在读锁下读两次。',
  failover: '服务器被副本接替，副本没有收到最后一条命令。',
  'client-gone': '一个客户端在等待时断开连接。',
  'zombie-renewal': '第一个持有者暂停到租期之后，又继续运行很久；下一个持有者宕机。',
  'crossed-skus': '不制造故障；每笔销售包含两个 SKU，各进程请求它们的顺序不同。',
  'put-back': '放回一件货，同时另外两个进程要购买。',
  'frozen-master': '一个主节点卡死。',
  'late-votes': '一张选票在返回途中滞留。',
  amnesia: '一个主节点重启，丢失了它投过的票。',
  'clock-jump': '一个主节点的时钟向前跳变一个租期。',
  'three-clerks': '不制造故障，三个进程共用两个许可。',
  'fourth-clerk': '一个持有者停顿，三个进程共用两个许可。',
};

function readInChinese(command: ReadCommand): string {
  if ('words' in command) return command.words;
  const { script = '自定义脚本', isInFull, keys, args } = command;
  const parts = [
    ...(isInFull ? ['发送脚本全文'] : []),
    ...(keys ? [] : ['缺少键的个数']),
    ...(keys && keys.length > 0 ? [`键 ${keys.join('、')}`] : []),
    ...(args.length > 0 ? [`参数 ${args.join('、')}`] : []),
  ];
  return parts.length === 0 ? script : `${script}（${parts.join('，')}）`;
}

const happenings: Wording<HappeningForms> = {
  begins: () => '开始一笔销售',
  'begins to look': () => '开始查看库存',
  sends: ({ command }) => readInChinese(command),
  'sends to a master': ({ command, master }) => `${readInChinese(command)}，发往主节点 ${master}`,
  'sends late': ({ command }) => `${readInChinese(command)}，滞留后到达`,
  'sends, the reply is held up': ({ command, master }) =>
    `${readInChinese(command)}，发往主节点 ${master}，响应滞留在途中`,
  'reads the reply': ({ reply }) => `读到响应 ${reply}`,
  hears: ({ message, channel }) => `从频道 ${channel} 收到消息 ${message}`,
  'timer fires': () => '的一个定时器触发',

  'is paused': () => '停顿',
  'wakes up': () => '恢复运行',
  'is held up': ({ command }) => `有一条命令滞留在网络中：${readInChinese(command)}`,
  'is killed': () => '宕机',
  'hangs up': () => '的客户端断开连接',

  'fails over': () => '失效，由副本接替；副本没有收到最后一条命令',
  'stands still': ({ master }) => `（主节点 ${master}）卡死`,
  'starts again empty': ({ master }) => `（主节点 ${master}）重启，数据为空`,
  'clock jumps': ({ master, ms }) => `（主节点 ${master}）的时钟向前跳变 ${ms} 毫秒`,
  'clock goes on': ({ ms }) => `走到 ${ms} 毫秒`,
};

const clauses: Wording<ClauseForms> = {
  ...happenings,
  'with luck': ({ what, chance }) => `${worded<HappeningForms>(happenings, what)}（Math.random() 为 ${chance}）`,
};

const tells: ToldWording = {
  entered: ({ bucket }) => (bucket === undefined ? '进入临界区' : `进入桶 ${bucket} 的临界区`),
  nested: () => '再次获得自己的锁',
  read: ({ stock }) => (stock === undefined ? '读到所有库存' : `读到库存 ${stock}`),
  wrote: ({ stock }) => (stock === undefined ? '写入所有库存' : `写入库存 ${stock}`),
  'put back': ({ stock }) => `放回一件：库存 ${stock}`,
  'sold out': () => '发现已售完',
  left: () => '离开临界区',
  'waits again': () => '再次尝试',
  released: () => '已释放锁',
  failed: ({ why }) => `失败：${why}`,
};

const leftovers: Wording<LeftoverForms> = {
  key: ({ key }) => `键 ${key}`,
  subscription: ({ channel }) => `对频道 ${channel} 的订阅`,
  timer: ({ process, ms }) => `${process} 在 ${ms} 毫秒的定时器`,
};
const leftInChinese = (left: Leftover) => worded<LeftoverForms>(leftovers, left);

const differences: Wording<DifferenceForms> = {
  'told otherwise': ({ process, told }) => `${process} 报告了 ${JSON.stringify(told)}。`,
  'sends otherwise': ({ command }) => `它发送了 ${JSON.stringify(command)}。`,
  'answer to another': ({ id }) => `响应的不是命令 ${id}，而是另一条。`,
  'replied otherwise': ({ reply, wanted }) => `响应是 ${reply}，而不是 ${wanted}。`,
  'hears otherwise': ({ message }) => `它收到的消息是 ${message}。`,
};
const differenceInChinese = (differs: Difference) => worded<DifferenceForms>(differences, differs);

/** Those who are no process have names of their own. */
const subjects: Record<string, string> = { 'the clock': '时钟', 'the server': '服务器' };

function clauseOf(process: string, what: Clause): string {
  const clause = worded<ClauseForms>(clauses, what);
  const subject = subjects[process];
  if (subject !== undefined) return `${subject}${clause}`;
  return isCommand(what) ? `${process}：${clause}` : `${process} ${clause}`;
}

const searchInChinese: SearchWording = {
  scope: ({ name }) => scopesInChinese[name],

  move: ({ process, what }) => clauseOf(process, what),
  made: ({ process, what, came }) =>
    [clauseOf(process, what), ...came.map((told) => `${process} ${tells[told.step](told)}`)].join(' · '),
  'made, with a reply': ({ process, what, reply, came }) =>
    [`${clauseOf(process, what)} → ${reply}`, ...came.map((told) => `${process} ${tells[told.step](told)}`)].join(
      ' · ',
    ),

  died: ({ process, why }) => `${process} 因一个没有被捕获的错误而结束：${why}`,
  'refused, though a unit was left': ({ process }) => `${process} 发现已售完，但从它到来起一直都有余货。`,
  together: ({ one, other }) => `${one} 和 ${other} 同时在临界区内。`,
  'more than permits': ({ inside, permits }) => `${inside} 个进程同时在临界区内，而许可只有 ${permits} 个。`,
  'together within leases': ({ one, other }) => `${one} 和 ${other} 同时在临界区内，而且租期都未到。`,
  'another stock': ({ process }) => `${process} 在读锁下读了两次，读到的库存不同。`,
  'refused within its lease': ({ process }) => `库存拒绝了 ${process}，虽然它的租期未到：已有更大的 fencing 令牌。`,
  "changes another's lock": ({ process, holder }) =>
    `${process} 改动了 ${holder} 持有的锁：${holder} 在临界区内，租期未到。`,
  'gave its lock up': ({ process, other }) => `${process} 还在临界区内就释放了自己的锁，随后 ${other} 拿到了它。`,
  'waits for a free lock': ({ process, ms }) => `锁已空闲 ${ms} 毫秒，正在等待的 ${process} 仍未进入临界区。`,
  'nobody after a crash': ({ ms }) => `宕机后两个租期（${ms} 毫秒）内没有人进入临界区。`,
  'waits for its own lock': ({ process }) => `${process} 等待自己持有的锁，直到租期结束。`,
  'enters after a hang-up': ({ process }) => `${process} 的客户端已断开连接，它却继续等待，后来进入了临界区。`,
  'sale failed': ({ process, why }) => `${process} 失败：${why}`,
  deadlock: ({ processes }) => `${processes.join('、')} 相互等待：每把锁都被持有，而没有人在临界区内。`,

  'waits for ever': ({ process }) => `${process} 永远等待下去。`,
  'sales never end': ({ process, sales }) => `${process} 永远等待下去：它的销售 ${sales.join('、')} 不会结束。`,
  'something left': ({ left }) => `所有销售都已结束，却还留有${left.map(leftInChinese).join('、')}。`,
  lost: ({ sold, stock, left }) =>
    `${stock} 件里卖出 ${sold} 件，还剩 ${left} 件：重复卖出 ${left - (stock - sold)} 件。`,
  'lost of a sku': ({ sold, stock, left, key }) =>
    `${key} 的 ${stock} 件里卖出 ${sold} 件，还剩 ${left} 件：重复卖出 ${left - (stock - sold)} 件。`,
  'lost what was put back': ({ due, left }) => `应剩 ${due} 件，实际 ${left} 件：放回的货丢失了。`,
  'sales together': ({ process }) => `${process} 的两笔销售曾同时在临界区内。`,

  'still waits': ({ process, ms }) => `锁已空闲 ${ms} 毫秒，一直在等待的 ${process} 始终没有进入临界区。`,
  'timer still fires': ({ process, ms }) => `所有销售结束 ${ms} 毫秒之后，${process} 的定时器还在触发。`,

  holds: () => '没有任何交错违反要求。',
  'nobody was inside': () => '没有任何交错让人进入临界区，所以什么也没有检验。',
  'nothing went wrong': () => '没有任何交错触发预设的故障，所以什么也没有检验。',
  'too many states': ({ states }) => `已检查 ${states} 个状态，还没有检查完所有交错。`,
  'too much memory': ({ bytes }) => `所需内存超过 ${Math.round(bytes / 1e6)} MB。`,
  'beyond the horizon': ({ cut, ms }) => `有 ${cut} 个交错超过 ${ms} 毫秒仍未结束，模型检查到此为止。`,
  'not controlled': ({ name }) => `这把锁使用了 ${name}，模型检查器控制不了它。`,
  'a key for each holder': ({ keys }) =>
    `每个持有者都有自己的键，例如 ${keys.join('、')}，所以模型检查器看不出锁是否空闲。`,
  'a lease in a value': ({ keys }) =>
    `键 ${keys.join('、')} 没有过期时间，而租期结束后别人能进入，所以模型检查器看不出锁何时不再被持有。`,
  'a key that stays': ({ keys }) => `释放锁之后，键 ${keys.join('、')} 仍然存在，所以模型检查器看不出锁是否空闲。`,
  'replay differs': ({ replay, of, step, differs }) =>
    `反例的第 ${replay} 次重放（共 ${of} 次）在第 ${step} 步走了另一条路：${differenceInChinese(differs)}`,
  'search died': () => '模型检查器的进程已终止，或者没有返回。',
  interrupted: () => '模型检查被中断。',
  unreadable: ({ problem }) => problem,
};

/** The sentence in Chinese. */
export const inChinese = (sentence: SearchSentence): string => worded(searchInChinese, sentence);
