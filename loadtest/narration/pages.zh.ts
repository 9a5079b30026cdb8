// What the pages of the scenarios say of a verdict, in Chinese: by the name of the page, and by the ending.

const undone = '迟到的写入覆盖了其他销售（丢失更新）。';
const undidNone = '迟到的写入没有覆盖任何销售。';
const lateWriteWaited = '迟到的写入到达之前，谁也卖不了；代价是所有人都在等待。';
const inStock = '已答复卖出的每笔销售，都体现在库存里。';
const notInStock = '有一笔已答复卖出的销售，没有体现在库存里。';

export const pagesInChinese: Record<string, Record<string, string>> = {
  amnesia: {
    'if it holds': '没有其他人进入临界区，也没有丢失销售。',
    'if it fails': '丢失数据的主节点又投了一次票。',
  },
  'blocked-loop': { 'if it holds': undidNone, 'if it fails': undone, 'if all waited': lateWriteWaited },
  'client-gone': { 'if it holds': '没有人替已断开连接的客户端等待。' },
  'clock-jump': {
    'if it holds': 'A 在临界区内时，其他人也卖出了；A 迟到的写入没有覆盖他们的销售。',
    'if it fails': '只有一台服务器的时钟认为租期已过。',
    'if all waited': '没有人进入临界区，也没有丢失销售。',
  },
  'crashed-holder': { 'if it fails': '已宕机的持有者的锁还在。' },
  'crossed-write': {
    'if it holds': '两笔销售中有一笔被拒绝，没有丢失销售。',
    'if it fails': '两笔销售的写入都写进了库存。',
    'if all waited': '迟到的写入到达之前，谁也不能进入临界区；代价是所有人都在等待。',
  },
  'failed-sale': {
    'if it holds': '释放写在 finally 里：失败的销售也释放了锁。',
    'if it fails': '失败的销售没有释放锁。',
  },
  failover: {
    'if it holds': '没有其他人进入临界区，也没有丢失销售。',
    'if it fails': '副本上没有这把锁。',
    'if A is refused': '没有副本确认的锁，谁也不能凭它进入临界区，也没有丢失销售。代价是没有副本时谁也卖不了。',
  },
  'forgotten-release': {
    'if it holds': '剩下的那次持有没有人续期，租期自己结束。',
    'if it fails': '只要进程还在，剩下的那次持有就一直有效。',
  },
  'forgotten-sale': {
    'if it holds': inStock,
    'if it fails': notInStock,
    'if A is refused': '这笔销售没有被答复卖出，所以没有丢失任何答复；代价是没有副本时谁也卖不了。',
  },
  'fourth-clerk': { 'if it fails': '被暂停的持有者租期已过，许可被别人拿走，而它仍在工作。' },
  'frozen-master': { 'if it holds': '少数主节点不响应，不会拖住任何人。' },
  'given-lease': {
    'if it holds': '指定的租期也被续期了。',
    'if it fails': '指定的租期在业务完成前就结束了，没有看门狗续期。',
  },
  'hung-holder': { 'if it fails': '卡死的销售仍持有锁。' },
  'one-user': {
    'if it holds': '同一个用户一次只有一个请求在临界区内。',
  },
  'late-batch': {
    'if it holds': '迟到的写入只属于一笔销售，其他买家都得知了自己的结果。',
    'if it fails': '迟到的写入属于多笔销售，它们的买家都不知道自己的结果。',
  },
  'late-release': {
    'if it holds': '迟到的释放没有影响：申请锁的销售在 B 离开后才进入临界区。',
    'if it fails': '迟到的释放误删了 B 的锁。',
    'if all waited': '迟到的释放到达之前，谁也不能进入临界区；代价是所有人都在等待。',
  },
  'late-votes': {
    'if it holds': '没有人凭已过期的票进入临界区。',
    'if it fails': '票到达时已经过期。',
  },
  'late-write': { 'if it holds': undidNone, 'if it fails': undone, 'if all waited': lateWriteWaited },
  'lock-outage': {
    'if it holds': '锁的服务器没有多数派时，谁也没有卖出，每位买家都得到了答复。',
    'if it fails': '这把锁没有做到其多数服务器所能保证的事。',
  },
  'long-sale': {
    'if it holds': '销售一笔接一笔，没有丢失任何一笔。',
    'if it fails': '有一笔销售中途失去了锁。',
  },
  'long-wait': { 'if it fails': '不留下任何东西的一次尝试，占用少于 60 字节。' },
  'nested-call': { 'if it holds': '内层释放之后，外层的锁仍然有效。' },
  'lost-permit': {
    'if it holds': '宕机的持有者租期结束时，许可归还；在那之前少一个许可。',
    'if it fails': '宕机的持有者永远占着许可：从此少一个。',
  },
  overtaking: { 'if it holds': '它们按申请的顺序进入。' },
  partition: { 'if it holds': undidNone, 'if it fails': undone, 'if all waited': lateWriteWaited },
  'paused-process': { 'if it holds': undidNone, 'if it fails': undone, 'if all waited': lateWriteWaited },
  'slow-clock': {
    'if it holds': undidNone,
    'if it fails': '持有者按走得慢的时钟计算租期，在别人的租期内写入。',
    'if all waited': lateWriteWaited,
  },
  'slow-holder': {
    'if it holds': '慢的持有者离开了，其他人没有同时进入临界区。',
    'if it fails': '慢的持有者误删了 B 的锁，另外两笔销售可能卖出同一件货。',
    'if all waited': '慢的持有者停顿时，没有人进入临界区；代价是所有人都在等待。',
  },
  'three-clerks': { 'if it holds': '多出来的那个等到有许可归还才进入。' },
  'wrong-replica': { 'if it holds': inStock, 'if it fails': notInStock },
};
