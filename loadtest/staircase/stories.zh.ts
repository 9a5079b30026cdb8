// What the files of the rows say in their first lines, in Chinese, by the English sentence: a sentence that changes needs its Chinese anew.

export const storiesInChinese: Record<string, string> = {
  // The stages.
  'many buyers order the same item at the same moment.': '许多买家同时抢购同一种商品。',
  'nothing protects the sale.': '没有任何保护。',
  'two requests read the same stock and both sell it.': '两个请求读到同一个库存，都把它卖掉。',
  'a mutex in this process lets one request in at a time.': '进程内的互斥锁，一次只放一个请求进去。',
  'the other service has its own mutex, so both still enter at once.':
    '另一个服务有它自己的互斥锁，两边还是同时进入临界区。',
  'the lock is a key in Redis that both services share; if it is taken, acquire waits and calls itself.':
    '锁是 Redis 里的一个 key，两个服务共用；抢不到就等一会儿，然后递归调用自己。',
  'every failed try stays in memory until the last one returns.': '每次失败的重试都留在内存里，直到最后一次结束。',
  'acquire retries in a loop instead of calling itself.': '同样的等待，改成循环（自旋）。',
  'a holder that crashes never deletes the key, so everyone waits forever.': '持有者宕机后没人删 key，所有人永远等待。',
  'the key gets a TTL of leaseMs, set by the same command that creates it.':
    'key 在 leaseMs 之后过期；加锁和设置过期时间是同一条命令。',
  "a holder slower than its lease deletes the next holder's key.": '业务比租期长的持有者，会误删下一个持有者的锁。',
  "the value is the owner's token; release checks it, then deletes the key.":
    'value 说明锁是谁的；解锁时先判断，再删除。',
  'checking and deleting are two commands, and the owner can change between them.':
    '判断和删除是两条命令，中间锁可能易主。',
  'one Lua script checks the owner and deletes the key.': '用一个 Lua 脚本原子地完成判断和删除。',
  'a holder that tries to acquire its own lock again waits for itself.': '不可重入：持有者再次加锁，会一直等待自己。',
  'the key is a hash { owner: hold count }; Lua scripts acquire and release it.':
    '改用 hash：{ 持有者标识：重入次数 }，加锁和解锁都用 Lua 脚本。',
  'a sale that takes longer than the lease loses the lock halfway.': '业务比租期长时，做到一半锁就过期了。',
  'a watchdog renews the lease every third of its length.': '看门狗每过三分之一的租期就续期一次。',
  'a paused process cannot renew its lease, and resumes believing it still holds the lock.':
    '停顿的进程不能续期，醒来后还以为自己持有锁。',

  // Beyond.
  'checking and deleting in one step takes a script, which every server must be sent and may lose.':
    '一步完成判断和删除需要脚本，脚本要发给每台服务器，服务器还可能忘掉它。',
  'one command compares and deletes: DELIFEQ in Valkey 9, DELEX with IFEQ in Redis 8.4.':
    '一条命令完成判断和删除：Valkey 9 的 DELIFEQ，Redis 8.4 的 DELEX … IFEQ。',
  'it compares strings only, so the lock is not re-entrant: a holder that tries to acquire it again waits for itself.':
    '它只能比较字符串；不可重入：持有者再次加锁，会一直等待自己。',
  'a sale that hangs keeps its lock as long as its process lives, because the watchdog keeps renewing it.':
    '卡死的销售一直占着锁，只要进程还在，看门狗就会续期。',
  'the watchdog renews the lease at most three times, so a hold lasts at most two leases.':
    '看门狗最多续期三次，一次持有最长两个租期。',
  'a sale that takes longer than two leases loses the lock halfway.': '业务超过两个租期时，做到一半锁就过期了。',
  'waiters poll: they ask Redis again and again while the lock is held, and may be asleep when it becomes free.':
    '等待者轮询：锁没有变化时一再申请，锁空出来时却还在睡眠。',
  'release publishes a message; waiters sleep until it arrives, then one waiter per process tries.':
    '解锁时发布通知；等待者睡到收到通知，每个进程只有一个去尝试。',
  'the longest-waiting request of one node can be overtaken by the other node again and again.':
    '一个节点上等得最久的，可能一再被另一个节点插队。',
  'all nodes share one queue in Redis; release hands the lock to the first waiter in it, by name.':
    'Redis 里有一个所有节点共用的队列；解锁时把锁指名交给队首。',
  'each handover waits for a message to arrive; if the next holder is paused, everyone waits up to a lease.':
    '每次加锁都要等一条消息送达；队首停顿时，最多要等它一个租期。',
  'each acquisition costs Redis commands and a wake-up message, even when the next holder is in the same process.':
    '每次加锁都要经过 Redis 的命令和唤醒，哪怕下一个持有者就在同一个进程里。',
  'a node takes the lock in Redis once, passes it among its own waiters, then hands it to a waiting node.':
    '节点在 Redis 里加一次锁，在自己的等待者之间传递，然后交给正在等待的节点。',
  'waiters are served in order only within a node; a paused process still believes it holds the lock.':
    '先来先得只在一个节点内成立；停顿的进程仍以为自己持有锁。',
  'under a lock, every sale waits for the two round trips to Redis of each sale before it.':
    '加锁之后，每笔销售都要等前面每一笔往返 Redis 两次。',
  'the holder sells for all waiters on its node, with one read and one fenced write for the whole batch.':
    '持有者替本节点的所有等待者一起卖：不论多少笔，只读一次，带 fencing 令牌写一次。',
  'a write that is refused or unanswered affects the whole batch, and one slow sale delays it.':
    '一次写入被拒绝或没有响应，受影响的是多笔销售；一笔慢，同批的都慢。',
  'a lock admits one request at a time, even readers, which could safely share it.':
    '锁一次只放一个进去，连互不影响的读者也一样。',
  'many readers or one writer hold the lock; a waiting writer keeps new readers out.':
    '多个读者或一个写者；有写者在等时，新的读者不能进入。',
  'a slow reader keeps every writer out, and a steady stream of writers can starve the readers.':
    '一直不走的读者会挡住所有写者；写者不断到来，可能挡住读者。',
  'every acquisition gets a larger number; the stock refuses a write with a smaller number than one that has written.':
    '每次加锁得到一个更大的令牌；库存拒绝令牌比已写入者更旧的写入。',
  'a late write can still land between the read and the write of the next holder, which then overwrites it.':
    '迟到的写入仍可能落在下一个持有者的读和写之间，随后被它覆盖。',
  'every acquisition gets a larger number; the stock refuses a read or write with a smaller number than it has seen.':
    '每次加锁得到一个更大的令牌；库存拒绝令牌比它见过的更旧的读和写。',
  'the token protects only what checks it; waiters still poll.': '令牌只保护会检查它的资源；等待者仍然轮询。',
  'one stock has one lock, so all buyers of an item wait for each other, however many nodes there are.':
    '一份库存一把锁，不论有多少节点，买同一种商品的人都要互相等待。',
  'the stock is split into buckets, each with its own lock; it is sold out when all are empty at the same moment.':
    '库存分到多个桶里，每个桶有自己的锁；所有桶在同一时刻都空了才算售罄。',
  'a sale waits for the bucket it chose even when others are free; for the last units only one bucket is left.':
    '销售要等它选中的桶，哪怕别的桶空闲；最后几件又回到一个桶里。',
  'a sale of several skus needs a lock for each, and two sales that take them in opposite orders deadlock.':
    '一单多件要拿到每种商品的锁，两笔按相反的顺序加锁，就会永远互相等待。',
  'one lock made of many: acquire takes them one by one, in the order of their keys; release frees them together.':
    '由多把锁组成的一把锁：不论请求里的顺序，都按键的顺序逐个加锁，再一起释放。',
  'each sku is written in a separate step; a sale that waits for one sku blocks everyone else from the skus it holds.':
    '多种商品的写入是多个步骤；等一种商品时，已拿到的锁会让别人一直等。',
  'Redis replies before its replica has the write, so a failover loses locks and confirmed sales.':
    'Redis 不等副本收到就回答；主从切换会丢掉锁，也会丢掉已经答复的销售。',
  'WAIT: a holder enters once a replica has confirmed the lock; a sale is answered once it has confirmed the write.':
    '用 WAIT：副本确认了锁才进入，副本确认了写入才答复。',
  'a failover may promote a replica that did not confirm, and without a replica nobody can sell.':
    '被提升的可能是另一个没有确认过的副本；没有副本时谁也不能卖。',
  'one Redis decides alone, and a replica that is promoted may never have received the lock.':
    '一台 Redis 说了算，接替它的副本可能从未收到过这把锁。',
  'several independent masters vote; a holder needs the votes of a majority before its lease runs out.':
    '多个互不相识的主节点投票；在时限内得到多数票才算持有。',
  'a master that restarts empty votes twice, and no vote stops a write that arrives late.':
    '重启后数据为空的主节点会投两次票；途中迟到的写入，投票也拦不住。',
  'the lock is a row lock on tb_lock in MySQL, held while a transaction is open: there is no lease that could expire.':
    '锁是 MySQL 里 tb_lock 的一行，事务不结束就一直持有：没有会到期的租期。',
  'a paused holder keeps everyone waiting, and a broken connection frees the row while its holder is still working.':
    '停顿的持有者让所有人等待；连接断开会释放这一行，而持有者还在工作。',
  'a lock table needs a row for every lock, and a transaction that stays open while the lock is held.':
    '用表做锁，每把锁要有一行，持有期间事务要一直开着。',
  'GET_LOCK locks a name, without a table or a transaction; the lock belongs to the connection.':
    'GET_LOCK 给一个名字加锁：不要表，也不要事务，锁属于连接。',
  "the lock exists only in one server's memory, and a broken connection frees it while its holder is still working.":
    '名字只在一台服务器的内存里；连接断开会释放它，而持有者还在工作。',
  'the lock is on one server and the stock on another, so a sale can write the stock after losing the lock.':
    '锁在一台服务器上，库存在另一台上：锁已经没了，库存照样被写入。',
  "the stock is a row in MySQL, and the lock is on that row: a transaction that loses the lock can't commit its write.":
    '库存是 MySQL 的一行，锁就加在这一行上：丢了锁的事务不能提交写入。',
  'every sale waits for the sale before it, and occupies a connection while it waits.':
    '每笔销售都要等前一笔，等待时还占着一条连接。',
  'nobody waits: the UPDATE names the version that was read, and changes nothing if the row has a newer version.':
    '不用等待：写入时带上读到的版本号，版本已变就什么也不改。',
  'the more buyers there are, the more writes are refused and the more sales start over.':
    '买家越多，被拒绝的写入和重新开始的销售就越多。',
  'one UPDATE checks the stock and takes a unit, so no sale acts on a stale read.':
    '一条 UPDATE 完成判断和扣减，写入时不会用到过时的库存。',
  'it works only where the whole step is one statement on one server.':
    '只适合整个步骤是一台服务器上的一条语句的情况。',
  'a lock in one Redis is lost with that Redis, its waiters poll, and a paused holder writes late.':
    '单台 Redis 上的锁会随它一起丢失；等待者轮询；停顿的持有者会迟到写入。',
  'a queue of numbered ephemeral znodes: the lowest holds the lock, and its number is the fencing token.':
    '带编号的临时 znode 排成队，会话结束就删除：编号最小的持有锁，编号就是 fencing 令牌。',
  'a crashed holder keeps the lock until its session expires; each sale costs three to eight more round trips.':
    '持有者宕机后，锁要到会话结束才释放；每笔销售多三到八次往返。',
  'a lock costs commands and waiting time, and every lock above can fail in some way.':
    '锁要花命令和等待，而上面的每把锁都有失效的时候。',
  'one script checks the stock and takes a unit, so there is no gap to protect: the best lock here is no lock.':
    '一个脚本完成判断和扣减，没有需要保护的间隙：这里最好的锁就是不用锁。',
  'it works only where the whole step is a few commands on one server.':
    '只适合整个步骤是一台服务器上的几条命令的情况。',
  'a lock admits one holder at a time, even where three could work side by side.':
    '锁一次只放一个进去，哪怕三个同时工作也没问题。',
  'there are several permits: a holder takes one, and it comes back on release or when its lease expires.':
    '有若干许可：拿到一个就进入；释放或租期结束时归还。',
  'it limits how many work at once but does not protect the stock; a paused holder that resumes exceeds the limit.':
    '它限制同时工作的数量，不保护库存；持有者停顿后，会比许可多一个。',

  // The clean-up.
  'an order that nobody pays keeps its units forever.': '没人付款的订单，永远占着库存。',
  'each run reads the orders that are due, returns the units of each to stock, and closes it.':
    '每次执行时读出到期的订单，归还库存，然后关闭订单。',
  'two runs at the same time read the same orders, and both return their units.':
    '两次任务同时执行，读到相同的订单，库存归还两次。',
  'a run is skipped while another run is in progress in this process.': '本进程里有任务在执行时，跳过这一次。',
  'the other node has its own schedule, so both still run the job at the same time.':
    '另一个节点有自己的定时，两边还是同时清理。',
  'a run tries once to acquire a lock that all nodes share; if it is held, the run is skipped.':
    '任务只试一次所有节点共用的锁，有人持有就跳过。',
  'the lock says who runs, not what is done: a holder that dies halfway leaves an order restored but still open.':
    '锁只说明谁在执行，不说明做到哪一步：持有者中途宕机，会留下库存已归还、订单未关闭的订单。',
  'close the order first, then restore its units, under the lock of stage 8. A closed order is never read again.':
    '换个顺序：在阶段 8 的锁下，先关闭，再归还。已关闭的订单不会再被读到。',
  'a holder that dies halfway leaves an order closed but not restored: its unit is never returned.':
    '持有者中途宕机，会留下已关闭、未归还的订单：这件货再也回不来。',
  "no lock: an UPDATE closes the order only if it is UNPAID, and only a changed row's units are restored, once.":
    '不用锁：UPDATE 只在订单是 UNPAID 时关闭它，改到了那一行才归还一次库存。',
  'stock in Redis is not part of the transaction: it takes a mark for each order, and after a crash one more run.':
    'Redis 里的库存不在事务里：每个订单要有一个标记，宕机之后还要再执行一次任务。',

  // The schedules and the second job.
  'a job must run periodically, without anybody to start it.': '任务要反复执行，而没有人去启动它。',
  "it starts at the times of a cron expression, on each node by that node's clock.":
    '按 cron 表达式的时间启动，每个节点按自己的时钟。',
  'a run that takes longer than the interval is still in progress when the next one starts.':
    '一次任务比间隔还长，下一次开始时它还没有结束。',
  'runs are due at a fixed rate, and each starts only when the last one has ended.':
    '固定频率：每隔固定时间到期一次，上一次结束后才开始。',
  'runs that were due during a slow run pile up, and all follow at once.':
    '慢任务执行期间到期的任务会积压，随后接连执行。',
  'a run starts a fixed delay after the end of the last one.': '固定延迟：上一次结束之后，过固定时间再开始。',
  'each run shifts all later runs, so nobody can say at what time of day a run starts.':
    '每一次都会推迟后面的所有次，没人说得出它会在几点执行。',
  'a cron expression again, but a run that is due while the last one is in progress is skipped.':
    '仍按 cron 表达式的时间，但上一次还没结束时，到期的这一次会跳过。',
  'a skipped run is not made up for: a job that runs once a night misses a whole night.':
    '跳过的不会补上：每晚一次的任务，就少了整整一晚。',
  'the sales must be added up, and a node has a single thread for all its jobs and requests.':
    '要汇总销售，而节点的所有任务和请求共用一个线程。',
  'one loop adds up everything.': '用一个循环加到底。',
  'the loop has no await, so no other job or request runs until it ends.':
    '循环里没有 await，结束之前别的任务和请求都轮不到。',
  'an await after each slice lets everything else that is due run.': '每算一段就 await 一次：到期的都能轮到。',
  'everything still shares one core, and one long slice blocks everybody: that takes a worker thread.':
    '大家仍共用一个核；某一段太长，还是会拖住所有人：那就要用工作线程。',

  // Idempotency.
  'a buyer clicks twice, or repeats a request whose response was lost: one purchase arrives as two requests.':
    '买家点了两次，或响应丢失后重试：一次购买变成两个请求。',
  'nothing yet: each request does its work.': '什么也不做，每个请求都照常执行。',
  'one purchase creates two orders.': '一次购买生成两个订单。',
  'this process remembers each key that it has received, and its response.':
    '本进程记住收到过的每个幂等键，以及当时的响应。',
  'the other node does not know the key, and neither does this one after a restart.':
    '另一个节点不知道这个键，本节点重启后也不知道。',
  'the request tries once to acquire a Redis lock named after the key; if it is held, the request is refused at once.':
    '以幂等键为名，在 Redis 里试一次锁：已被持有的请求立即拒绝。',
  'the lock is released when the first request ends, so a later repeat creates a second order.':
    '第一个请求结束，锁就没了，之后的重试会生成第二个订单。',
  "a table row with the key as primary key: one INSERT wins, and the order's transaction stores the response in the row.":
    '以幂等键为主键的一行：只有一个 INSERT 成功，订单的事务把响应写进这一行。',
  'a second click with a new key or without one creates a second order, and so does a repeat after keepMs.':
    '第二次点击带着别的键或没有键，会生成第二个订单；超过 keepMs 之后也一样。',

  // Refunds.
  'a refund is requested twice, but the money must be paid back once.': '退款请求来了两次，钱只能退一次。',
  'check that the order is paid, then refund it.': '先看订单是否已付款，再退款。',
  'two simultaneous requests both find the order paid, and both refund it.': '两个请求同时看到已付款，都退了款。',
  'a table of refunded orders: check, write the row, then refund, under an in-process lock.':
    '用一张表记录已退款的订单：在进程内的锁下，先查，写入一行，再退款。',
  'the other node has its own lock: both check, both find no row, and both refund.':
    '另一个节点有自己的锁：两边都查不到，两边都退款。',
  "no lock: the order's id is the table's primary key, so only one INSERT writes the row; that request refunds.":
    '不用锁：订单号是表的主键，只有一个 INSERT 能写入，谁写入谁退款。',
  'a node that dies between the row and the refund leaves the row, so the money is never paid back.':
    '节点在写入之后、退款之前宕机，那一行还在，钱却再也不会退。',
  'the row and the refund are one transaction: both happen, or neither does.':
    '写入一行和退款在同一个事务里：要么都有，要么都没有。',
  "the table repeats what the order's status already says, with one more statement per refund.":
    '表里的内容订单状态已经有了，每次退款却多一条语句。',
  'no table: an UPDATE sets the order to REFUNDED only if it is PAID, and the money moves in the same transaction.':
    '不用表：UPDATE 只在订单是 PAID 时改成 REFUNDED，在同一个事务里退款。',
  "money that another service pays back is not part of the transaction: that takes a row with a state, like a sale's intent.":
    '由别的服务退的钱不在事务里：那就要一行带状态的记录，像销售的意向记录那样。',

  // Two stores.
  'MySQL has the stock, and Redis caches it for fast reads: a sale writes two stores, and no command writes both.':
    '库存在 MySQL 里，Redis 里也有一份用来快速查看：一笔销售要写两处，没有一条命令能同时写。',
  'a sale reads Redis, writes MySQL, then writes Redis.': '销售先看 Redis，写 MySQL，再写 Redis。',
  'when Redis loses the key, nobody can buy what MySQL still has.': 'Redis 丢了键，MySQL 里还有的货谁也买不到。',
  'a sale writes MySQL, then deletes the key; on a cache miss a reader reads MySQL and fills Redis.':
    '销售写 MySQL，然后删除键；谁读不到键，谁就读 MySQL 并回填 Redis。',
  'a reader that read MySQL before the sale may fill Redis after the delete: the sold unit is back.':
    '在销售之前读了 MySQL 的读者，可能在删除之后才回填 Redis：卖掉的那件又回来了。',
  'the sale deletes the key again after a delay, when such a reader should have finished.':
    '过一会儿，等这样的读者应该已经结束，再删除一次键（延迟双删）。',
  'a reader slower than the delay, or a node that dies before a delete, leaves the sold unit in Redis.':
    '比延迟还慢的读者，或在删除之前宕机的节点，会把卖掉的那件留在 Redis 里。',
  'one UPDATE takes the unit only if MySQL has one: the Redis value is only a hint, and a refusal deletes it.':
    '一条 UPDATE 只在 MySQL 有货时扣减：Redis 说的只是提示，被拒绝时删除它。',
  'a hint of 0 is believed: if it is wrong, a buyer is turned away although MySQL has a unit.':
    '提示为 0 时会信以为真：Redis 错了，MySQL 明明有货，买家却被拒绝。',
};
