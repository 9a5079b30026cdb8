// What the pages of the orders say of a verdict, in Chinese: by the name of the page, and by the ending.

const unitsMissing = '没有节点宕机，到期订单的库存却没有全部恢复。';
const ownOrder = '第一个请求还在执行时到来的重复请求，又生成了自己的订单。';
const stillUnderWay = '10 秒内，每次重复请求得到的答复都是：第一个请求仍在执行。';
const notKnown = 'node-2 不知道 node-1 已经售出。';
const bookedEachTime = '消息每投递一次，就入账一次。';
const acknowledgedFirst = '消息在入账之前就被确认，不会再投递给任何节点：这笔钱丢失了。';
const neverAcknowledged = '没有节点确认这条消息，它会反复投递。';

export const orderPagesInChinese: Record<string, Record<string, string>> = {
  'same-node-twice': { 'if it fails': 'node-1 的两次任务读到了相同的订单。', 'if too few': unitsMissing },
  'double-restore': { 'if it fails': '两个节点的任务读到了相同的订单。', 'if too few': unitsMissing },
  'clock-skew': { 'if it fails': 'node-2 读到了 node-1 还没有处理的订单。', 'if too few': unitsMissing },
  'job-outlives-lease': {
    'if it fails': 'node-2 恢复了其余订单的库存之后，node-1 又继续执行。',
    'if too few': unitsMissing,
  },
  'job-crashes-half-way': {
    'if it fails': 'node-1 宕机时库存已恢复，订单却未关闭，所以 node-2 又恢复了一次。',
    'if too few': 'node-1 宕机时订单已关闭，库存却未恢复，之后的任务不会再处理这些订单。',
    'if it never ends': '宕机节点的锁还在，每次任务都被跳过。',
  },
  'job-crashes-after-close': {
    'if it fails': 'node-1 宕机时恢复的库存多于关闭的订单，所以 node-2 又恢复了一次。',
    'if too few': 'node-1 宕机时订单已关闭，库存却未恢复，之后的任务不会再读到它。',
    'if it never ends': '宕机节点的锁还在，每次任务都被跳过。',
  },
  'crossed-ticks': { 'if it fails': '两个节点关闭订单之前，都读到它未支付。', 'if too few': unitsMissing },
  'one-node-click': { 'if it fails': ownOrder },
  'double-click': { 'if it fails': ownOrder },
  'clicks-at-once': { 'if it fails': '每个节点都在另一个节点写入之前就完成了判断。' },
  'refund-twice': { 'if it fails': '两个节点写入退款状态之前，都读到订单已支付。' },
  'refund-same-node': { 'if it fails': '两个请求登记退款之前，都完成了查询。' },
  'refund-two-nodes': { 'if it fails': '两个节点登记退款之前，都完成了查询。' },
  'refund-crashes': {
    'if it fails': '两个节点各退款一次。',
    'if too few': 'node-1 宕机时退款记录已写入，钱却没有退，之后每个节点都把这条记录当作已退款。',
  },
  'retry-after-timeout': { 'if it fails': notKnown, 'if it never ends': stillUnderWay },
  'crash-before-answer': { 'if it fails': notKnown, 'if it never ends': stillUnderWay },
  'next-upstream': { 'if it fails': '另一个节点不知道第一个节点已经售出。', 'if it never ends': stillUnderWay },
  redelivered: {
    'if it fails': '接管消息的节点不知道另一个节点已经入账。',
    'if too few': '消息已确认，却没有入账。',
  },
  'last-unit': { 'if it fails': 'A 写完 MySQL、还没写 Redis 时，B 在 Redis 中看到了已售出的商品。' },
  'crash-between-writes': { 'if it fails': '宕机的节点写了 MySQL，没有写 Redis；锁只能让别人等待，不能完成它的写入。' },
  'lost-key': { 'if it fails': '没有节点从 MySQL 重新读取库存。' },
  'late-fill': { 'if it fails': '删除之后，查询又把旧的库存回填到 Redis。' },
  'later-fill': { 'if it fails': '第二次删除之后，查询才把旧的库存回填到 Redis。' },
  'crash-before-delete': { 'if it fails': '节点在第二次删除之前宕机，旧的库存留在 Redis 中。' },
  'wrong-hint': { 'if it fails': 'Redis 说已售完，没有节点再去问 MySQL。' },
  'killed-at-work': {
    'if it fails': bookedEachTime,
    'if too few': acknowledgedFirst,
    'if it never ends': neverAcknowledged,
  },
  'booking-fails': {
    'if it fails': bookedEachTime,
    'if too few': acknowledgedFirst,
    'if it never ends': neverAcknowledged,
  },
  'sent-twice': {
    'if it fails': '没有任何依据能区分第二条消息和一笔新的支付。',
    'if it never ends': '这笔支付有一条消息没有节点确认，它会反复投递。',
  },
};
