// What is asked of a lock, and the usual reasons of a verdict, in Chinese, by their form.

export const ofVerdicts: Record<string, string> = {
  'does one node alone lose sales?': '单个节点会丢销售吗?',
  'do two nodes together lose sales?': '两个节点一起会丢销售吗?',
  'is more sold than there is?': '会卖出比库存更多的货吗?',
  'does the shop sell again after a holder has crashed?': '持有者崩溃后,商店还能再卖吗?',
  'does the shop sell again while a sale hangs whose process lives?': '一笔销售挂住而进程还活着时,商店还能再卖吗?',
  'what does a buyer keep in memory who waits for long?': '等了很久的买家在内存里占着什么?',
  'does a holder that was too slow harm the holders after it?': '太慢的持有者会伤害后面的持有者吗?',
  'does a release that arrives late free the lock of another holder?': '迟到的释放会放开别人的锁吗?',
  'may a holder ask for its own lock again?': '持有者可以再次申请自己的锁吗?',
  'does a sale keep its lock when it takes longer than the lease?': '销售比租期长时,还能保住锁吗?',
  'is a sale lost when a holder is paused and wakes up late?': '持有者被暂停、很晚才醒来时,会丢销售吗?',
  'is a sale lost when the business of a holder computes for 2.5 leases and never yields?':
    '持有者连续计算 2.5 个租期、从不让出时,会丢销售吗?',
  'is a sale lost when a node is cut off from the servers of its lock while one of its sales is inside?':
    '节点的一笔销售在锁里面时与锁服务器断开,会丢销售吗?',
  'is a sale lost when a write arrives after the lease has ended?': '写命令在租期结束后才到达,会丢销售吗?',
  'is a sale lost when a late write arrives between the read and the write of the next holder?':
    '迟到的写命令落在下一个持有者的读和写之间,会丢销售吗?',
  'is a sale lost when Redis fails over to a replica that never heard of the lock?':
    'Redis 切换到没收到这把锁的副本时,会丢销售吗?',
  'is a sale that was answered still in the stock when Redis fails over to a replica that never heard of it?':
    'Redis 切换到没收到这笔销售的副本后,已答复的销售还在库存里吗?',
  'are all buyers answered when Redis is away, and is no sale lost?': 'Redis 不在时,买家都得到回答、销售都不丢吗?',
  'do clients that hung up still wait for the lock?': '挂断的客户端还在等锁吗?',
  'how many that came later go first, while others come without end?': '不断有人来时,有多少后来的先进?',
  'do waiters enter in the order in which they asked?': '等待者按申请的顺序进入吗?',
  'is a sale lost when the wall clock of the server that granted the lock jumps ahead by more than a lease?':
    '授予锁的服务器的系统时钟向前跳变超过一个租期时,会丢销售吗?',

  '{count} sold': '卖出 {count} 件',
  'stock {count}, as expected': '库存 {count},正确',
  'stock {count}, expected {number}': '库存 {count},应为 {number}',
  'none oversold.': '没有超卖。',
  '{count} oversold.': '超卖 {count} 件。',
  'Two holders were inside at the same moment: {count} pair.': '两个持有者同时在锁里面:{count} 对。',
  'Two holders were inside at the same moment: {count} pairs.': '两个持有者同时在锁里面:{count} 对。',
  'The slow holder left, and no two of the others met.': '慢的持有者离开了,其他人没有相遇。',
  'The late release deleted the lock of {a}.': '迟到的释放删掉了 {a} 的锁。',
  'The stock is {count} instead of {number} at most.': '库存是 {count},最多应为 {number}。',
  'A sale lost its lock in the middle.': '一笔销售中途失去了锁。',
  'The late write undid sales.': '迟到的写入覆盖了别的销售(丢失更新)。',
  'The stock took the writes of both sales.': '库存接受了两笔销售的写入。',
  'The replica knew nothing of the lock.': '副本不知道这把锁。',
  'The stock knows nothing of a sale that was answered as sold.': '已答复卖出的一笔销售,库存里没有。',
  'The lease was over by the clock of one server alone.': '只有一台服务器的时钟认为租期已过。',
  '{a} was sold within {number} ms.': '{a} 在 {number} 毫秒内卖出。',
  'Two holders inside at the same moment: {count} times.': '两个持有者同时在锁里面:{count} 次。',
  '{count} sold of {number}': '卖出 {count} 件,共有 {number} 件',
  '{node} sold {time} after the fault.': '故障 {time}后 {node} 卖出。',
  '{node} could not sell within {time}.': '{node} 在 {time}内没能卖出。',
  'The lock of the dead holder is still there.': '死掉的持有者的锁还在。',
  'The sale that hangs still has the lock.': '挂住的销售还持有锁。',
  'The slow holder deleted the lock of B, so two of the others may sell the same unit.':
    '慢的持有者删掉了 B 的锁,另外两个可能卖出同一件货。',
  'Nobody entered while the slow holder stalled; the price is that everybody waited.':
    '慢的持有者卡住时没有人进来;代价是大家都在等。',
  'Under {text} there is nothing that this drill could break.': '在 {text} 之下,这个场景没有可破坏的。',
  'Nobody could enter until the late release had come; the price is that everybody waited.':
    '迟到的释放到达之前没有人能进来;代价是大家都在等。',
  'Nobody could enter until the late write had come; the price is that everybody waited.':
    '迟到的写入到达之前没有人能进来;代价是大家都在等。',
  'Nobody could sell until the late write had come; the price is that everybody waited.':
    '迟到的写入到达之前没有人能卖;代价是大家都在等。',
  'The late release did nothing: who asked entered after B had left.': '迟到的释放什么也没做:申请者在 B 离开后才进来。',
  '{a} waited for itself: after {time} it had not sold.': '{a} 在等自己:{time}后还没有卖出。',
  '{a} was answered in {time}.': '{a} 在 {time}后得到回答。',
  'The outer lock held after the inner release.': '里面释放之后,外层的锁仍然有效。',
  'The sales came one after the other, and none was lost.': '销售一笔接一笔,一笔也没有丢。',
  'While Redis was away an answer took {time} at most.': 'Redis 不在时,一次回答最多用了 {time}。',
  'After its return sales flowed again in {time}.': 'Redis 回来 {time}后,销售恢复。',
  'After {time} nobody waited any more.': '{time}后不再有人等待。',
  'Nobody got in, and no sale was lost.': '没有人进来,也没有丢销售。',
  'Nobody else was inside, and no sale was lost.': '没有别人在锁里面,也没有丢销售。',
  'The master that had forgotten voted a second time.': '忘记了一切的主节点又投了一次票。',
  'The late write undid no sale.': '迟到的写入没有覆盖任何销售。',
  'Others sold while A was inside, and its late write undid none of their sales.':
    'A 在锁里面时别人也卖出了,它迟到的写入没有覆盖他们的销售。',
  'Of the two sales one was refused, and none is lost.': '两笔销售中有一笔被拒绝,没有丢失。',
  'Nobody enters on a lock that no replica has confirmed, and no sale was lost.':
    '没有副本确认的锁,谁也不能进来,也没有丢销售。',
  'The price is that nobody sells without a replica.': '代价是没有副本时谁也卖不了。',
  'Every sale that was answered as sold is in the stock.': '已答复卖出的每笔销售,库存里都有。',
  'The sale was not answered as sold, so no answer is forgotten; the price is that nobody sells without a replica.':
    '这笔销售没有答复卖出,所以没有答复被忘记;代价是没有副本时谁也卖不了。',
  'A minority that does not answer holds nobody up.': '少数不回答的主节点不会拖住任何人。',
  'The late write was that of one sale, and the other buyers were told what became of theirs.':
    '迟到的写入只属于一笔销售,其他买家都得知了自己的结果。',
  'The late write was that of many sales, and none of their buyers knows what became of it.':
    '迟到的写入属于许多销售,它们的买家都不知道结果。',
  'Nobody entered on votes that had ended.': '没有人靠已经过期的票进来。',
  'The votes had ended when they came.': '票到达时已经过期。',
  'A try that leaves nothing behind keeps fewer than 60.': '什么也不留下的尝试,少于 60 个字节。',
  'They entered in the order in which they had asked.': '它们按申请的顺序进来。',
  'The holder reckoned its lease by a clock that was slow, and wrote in the lease of others.':
    '持有者按走得慢的时钟计算租期,在别人的租期里写入了。',
  'Nobody waits for nobody.': '没有人白白等待。',
  '{count} went first that had come later, one after the other, and nothing bounds how many more.':
    '{count} 个后来的一个接一个先进,而且没有上限。',
  '{count} of {number} were overtaken: they entered in the order {text}.':
    '{number} 个里有 {count} 个被超过:进入的顺序是 {text}。',

  'The drill came no further: for {text} it has said nothing.': '场景没有进展:虚拟时钟过了 {text},什么也没有发生。',
  'What was played under mine came to no end.': '到虚拟时钟的期限为止,场景没有结束。',
  'Nobody knows: this scenario was ended after {time}, and on a machine at rest one takes 0.2 s.':
    '没有结论:这个场景在 {time}后被终止,而在空闲的机器上一个场景只要 0.2 秒。',
  'Your lock may never come to an end, or ask Redis almost without a pause, or this machine is busy.':
    '可能是你的锁一直停不下来,或几乎不停顿地询问 Redis,也可能是这台机器太忙。',
  'It is the second one, so the others are not played.': '这已是第二个,所以不再运行其他场景。',
  'Nobody knows: the search was ended after {time}.': '没有结论:搜索在 {time}后被终止。',
  'Until then no order of events had broken your lock.': '在那之前,没有哪种事件顺序破坏过你的锁。',
  'There may be too many orders of events, or your lock never comes to an end, or this machine is busy.':
    '可能是事件顺序太多,或者你的锁一直停不下来,也可能是这台机器太忙。',
};
