// The nine steps of the lesson and its glossary, in both languages side by side. Buttons and labels are in texts.ts.

import type { Both } from './texts.ts';

export interface Lesson {
  stage: string;
  /** The scenario that this stage mends; of stage 0, the one that it fails. */
  drill: string;
  /** What is broken, and what the stage does about it. */
  problem: Both;
  change: Both;
  question: Both;
  /** The first one is right; they are shown in the order of `order`. */
  answers: Both[];
  order: number[];
  explains: Both;
  /** What it means for the shop under the stage before, besides the units that are lost, and under this one. */
  before?: Both;
  after: Both;
}

export const lessons: Lesson[] = [
  {
    stage: '0-none',
    drill: 'rush',
    problem: [
      '60 buyers ask two nodes for one unit each. 500 are in stock, and nothing protects the sale.',
      '60 个买家向两个节点各买一件。库存 500 件,没有任何保护。',
    ],
    change: ['There is no lock.', '没有锁。'],
    question: [
      '60 are sold, so 440 should be left. Why are far more left?',
      '卖出 60 件,应剩 440 件。为什么剩下的多得多?',
    ],
    answers: [
      ['Two sales read the same stock, and both write one less.', '两笔销售读到同一个库存,又都写回减一后的值。'],
      ['Redis forgets some of the writes.', 'Redis 丢了一些写入。'],
      ['nginx sends some buyers to nobody.', 'nginx 没有把一些买家转给任何节点。'],
    ],
    order: [1, 0, 2],
    explains: [
      'A sale is two steps, a read and a write, and other sales come between them. Two units are sold, and the stock falls by one.',
      '一笔销售是读和写两步,别的销售会插在中间。卖出两件,库存只减一。',
    ],
    after: [
      'This is overselling. Press You are the scheduler, and you see two sales step by step.',
      '这就是超卖。点"你来调度",可以逐步看到两笔销售。',
    ],
  },
  {
    stage: '1-in-process',
    drill: 'one-node-rush',
    problem: ['Two requests read the same stock, and both sell it.', '两个请求读到同一个库存,都卖了它。'],
    change: [
      'First the easy case, one node: a mutex in its process lets one request in at a time.',
      '先看容易的情况,只有一个节点:进程内的互斥锁一次只放一个请求进来。',
    ],
    question: [
      'All 60 buyers come to one node, and it has a mutex. 500 are in stock. What is left?',
      '60 个买家都来到一个节点,它有一把互斥锁。库存 500 件。还剩多少?',
    ],
    answers: [
      ['Exactly 440.', '正好 440 件。'],
      ['A little more: two sales take the mutex at the same moment.', '稍多一些:两笔销售会同时拿到互斥锁。'],
      ['Far more: a mutex does not help while a sale waits for Redis.', '多得多:销售等 Redis 时互斥锁不起作用。'],
    ],
    order: [2, 0, 1],
    explains: [
      'In one process a mutex is enough: one piece of code runs at a time, and those who wait are let in one by one.',
      '在一个进程里互斥锁就够了:同一时刻只有一段代码在运行,等待者一个一个进来。',
    ],
    after: ['The sales went in one by one. But the shop has two nodes.', '销售一笔一笔地进行。但是商店有两个节点。'],
  },
  {
    stage: '2-recursive-retry',
    drill: 'rush',
    problem: [
      'The other node has its own mutex, so both still enter at once.',
      '另一个节点有自己的互斥锁,所以两边仍会同时进入。',
    ],
    change: ['The lock is a key in Redis, which both nodes share.', '锁是 Redis 里的一个 key,两个节点共用。'],
    question: [
      'The 60 buyers come to both nodes again. The lock is a key that SET NX creates. What is left of 500?',
      '60 个买家又来到两个节点。锁是 SET NX 建立的 key。500 件还剩多少?',
    ],
    answers: [
      ['Exactly 440, each time.', '每次都正好 440 件。'],
      [
        'A little more: both nodes can send SET NX at the very same moment.',
        '稍多一些:两个节点会在同一刻发出 SET NX。',
      ],
      ['500: the nodes wait for each other, and nothing is sold.', '500 件:两个节点互相等待,什么也没卖出。'],
    ],
    order: [1, 2, 0],
    explains: [
      'The mutex of one node means nothing to the other. Redis is one place that both ask, and it answers one question at a time.',
      '一个节点的互斥锁对另一个毫无意义。Redis 是两边共同询问的地方,它一次只回答一个问题。',
    ],
    after: [
      'No unit is lost from here on in a plain rush. What follows are faults.',
      '从这里起,普通的抢购不再少扣。接下来是各种故障。',
    ],
  },
  {
    stage: '3-spin',
    drill: 'patient-buyer',
    problem: [
      'Every failed try stays in memory until the last one ends.',
      '每次失败的尝试都留在内存里,直到最后一次结束。',
    ],
    change: ['The wait is a loop now.', '等待改成了循环。'],
    question: [
      'Buyer B waits for two seconds. After a failed try acquire calls itself (stage 2), or goes round a loop (stage 3). What differs?',
      '买家 B 等了两秒。尝试失败后,acquire 调用自己(阶段 2),或者再循环一次(阶段 3)。差别在哪里?',
    ],
    answers: [
      [
        'The memory: each call waits for the next one, and a loop is one call.',
        '内存:每个调用都在等下一个,而循环只有一个调用。',
      ],
      ['The stock: the loop sells right.', '库存:循环才卖得对。'],
      ['The speed: the loop asks less often.', '速度:循环问得更少。'],
    ],
    order: [1, 0, 2],
    explains: [
      'Both sell right and ask as often. Under stage 2 the first call waits for the second, the second for the third, and none of them has ended.',
      '两者都卖得对,问的次数也一样。在阶段 2,第一个调用等第二个,第二个等第三个,一个都没有结束。',
    ],
    before: [
      'Each try is a call that stays in memory: {tries} for one buyer.',
      '每次尝试都是一个留在内存里的调用:一个买家就有 {tries} 个。',
    ],
    after: ['All {tries} tries are one call.', '全部 {tries} 次尝试只是一个调用。'],
  },
  {
    stage: '4-ttl',
    drill: 'crashed-holder',
    problem: [
      'A holder that crashes never deletes the key, and everyone waits for ever.',
      '持有者宕机后永远不会删除 key,大家一直等下去。',
    ],
    change: [
      'The key expires after a lease, set by the same command that creates it.',
      'key 在一个租期后过期,由建立它的同一条命令设定。',
    ],
    question: [
      'A node is killed while its sale holds the lock. The key has a lease. When does the other node sell?',
      '一个节点在它的销售持有锁时被杀死。 key 有租期。另一个节点什么时候能卖?',
    ],
    answers: [
      ['When the lease has ended.', '租期到期时。'],
      ['At once: Redis sees that the client has gone.', '马上:Redis 看到客户端断开了。'],
      ["Never: a dead holder can't delete its key.", '永远不能:死掉的持有者不能删 key。'],
    ],
    order: [1, 2, 0],
    explains: [
      'A lease is a promise with an end. After a crash everybody waits for that end, and then goes on.',
      '租期是有期限的承诺。宕机之后,大家等到期限结束,然后继续。',
    ],
    before: ['The key stays for ever, and the shop is closed.', 'key 永远留着,商店关门了。'],
    after: ['B is served when the lease is over.', '租期到期后,B 买到了。'],
  },
  {
    stage: '5-owner-check',
    drill: 'slow-holder',
    problem: [
      "A holder slower than its lease deletes the next holder's key.",
      '比租期还慢的持有者,会删掉下一个持有者的 key。',
    ],
    change: ['The value says who owns the key; a release looks, then deletes.', 'key 的值写明是谁的;释放时先看,再删。'],
    question: [
      'A is slower than its lease, and others sell meanwhile. Then A ends, and its release looks at the key first. What happens to the others?',
      'A 比租期还慢,期间别人在卖。然后 A 结束,释放时先看 key。别人会怎样?',
    ],
    answers: [
      [
        'Nothing: A finds another owner there, and is told that its lock is lost.',
        '没事:A 看到别人的名字,得知自己的锁已丢失。',
      ],
      ['The key of the next holder is deleted, as before.', '下一个持有者的 key 被删掉,和以前一样。'],
      ['Nothing, because A was stopped when its lease ended.', '没事,因为租期到期时 A 被停下了。'],
    ],
    order: [1, 2, 0],
    explains: [
      'Each holder writes a value of its own, so a release can see that the key is not its own any more.',
      '每个持有者写自己的值,所以释放时能看出 key 已经不是自己的。',
    ],
    before: [
      'A deleted the key of another one, and two who did nothing wrong met inside.',
      'A 删掉了别人的 key,两个没有做错的销售在锁里相遇。',
    ],
    after: [
      'After A nobody met inside. The late write of A itself is still there: step 8 is about that.',
      'A 之后没有人在锁里相遇。A 自己迟到的写入仍在:见第 8 步。',
    ],
  },
  {
    stage: '6-lua-release',
    drill: 'late-release',
    problem: [
      'Looking and deleting are two commands; the owner can change between them.',
      '看和删是两条命令,中间可能换了持有者。',
    ],
    change: ['One Lua script looks and deletes.', '一段 Lua 脚本又看又删。'],
    question: [
      'The release of A is a script. It is held up on the line until the lease is over, and B has the lock. What does it do when it arrives?',
      'A 的释放是一段脚本。它卡在路上直到租期到期,B 拿到了锁。脚本到达时会怎样?',
    ],
    answers: [
      ['It finds another owner, and deletes nothing.', '它看到别人的名字,什么也不删。'],
      ['It deletes the key of B: it comes too late, as before.', '它删掉 B 的 key:它来晚了,和以前一样。'],
      ['It could not come late: Redis waits for a script.', '它不会迟到:Redis 会等脚本。'],
    ],
    order: [2, 1, 0],
    explains: [
      'A script is one step: there is no moment in which the owner can change between the look and the delete.',
      '脚本是一步:看和删之间没有换持有者的时刻。',
    ],
    before: ['The late DEL freed the lock of B, and C came in beside it.', '迟到的 DEL 放掉了 B 的锁,C 进来了。'],
    after: ['The late release did nothing.', '迟到的释放什么也没做。'],
  },
  {
    stage: '7-reentrant',
    drill: 'nested-call',
    problem: ['A holder that asks for its own lock again waits for itself.', '持有者再次申请自己的锁,就在等自己。'],
    change: [
      'A hash { owner: hold count }; acquire and release count in Lua.',
      '哈希 { 持有者: 次数 },用 Lua 计数地获取和释放。',
    ],
    question: [
      'A holds the lock, and a part of it asks for the same lock again. The lock counts. A releases once. Is the lock free?',
      'A 持有锁,它的一部分又申请同一把锁。锁会计数。A 释放一次。锁空了吗?',
    ],
    answers: [
      ['No: A still holds it once. The last release frees it.', '没有:A 还持有一次,最后一次释放才放开。'],
      ['Yes: released is released, and B enters.', '空了:释放就是释放,B 进来了。'],
      ['It does not get that far: A waits for itself.', '到不了那一步:A 在等自己。'],
    ],
    order: [1, 0, 2],
    explains: [
      'Each acquire of the owner counts up, each release counts down, and others get in at 0.',
      '持有者每次获取加一,每次释放减一,到 0 别人才能进来。',
    ],
    before: ['A waited for itself until its lease was over.', 'A 一直等自己,直到租期到期。'],
    after: ['A was answered at once, and kept its lock.', 'A 立刻得到回答,并保住了锁。'],
  },
  {
    stage: '8-auto-renew',
    drill: 'long-sale',
    problem: ['A sale longer than the lease loses the lock half way.', '比租期长的销售,中途会失去锁。'],
    change: ['A watchdog renews the lease each time a third of it has passed.', '看门狗每过三分之一租期就续期。'],
    question: [
      'A takes six times as long as the lease, and B waits at the other node. The watchdog renews the lease. When does B get in?',
      'A 的用时是租期的六倍,B 在另一个节点等待。看门狗给租期续期。B 什么时候能进来?',
    ],
    answers: [
      ['When A has released.', 'A 释放之后。'],
      ['When the first lease has ended.', '第一个租期到期时。'],
      ['Never: the lock is renewed for ever.', '永远不能:锁会一直续期。'],
    ],
    order: [1, 0, 2],
    explains: [
      'The holder says again and again that it is still there. When it crashes it stops saying so, and a lease later the next one gets in.',
      '持有者不断说明自己还在。宕机后不再说,一个租期之后下一个就能进来。',
    ],
    before: ['Both were inside, and both read the same stock.', '两个都在锁里,读到了同一个库存。'],
    after: [
      'They came one after the other. Still open: a paused process wakes up and believes that it holds. The stock itself must refuse a late write.',
      '它们一个接一个。还没解决的是:暂停的进程醒来后以为自己还持有锁。必须由库存自己拒绝迟到的写入。',
    ],
  },
];

/** The words of the page. */
export const glossary: Both[] = [
  ['Node: one of the two processes that sell.', '节点:两个卖货的进程之一。'],
  ['nginx: sends each buyer to one of the nodes.', 'nginx:把每个买家转给一个节点。'],
  ['Redis: a store that both nodes ask; it has the stock.', 'Redis:两个节点共用的存储,库存在里面。'],
  ['Inside: it has the lock. Waits: it has asked for it.', '锁内:已拿到锁。等待:还在申请。'],
  ['Holder: who has the lock now.', '持有者:现在持有锁的一方。'],
  ['Mutex: a lock in the memory of one process.', '互斥锁:一个进程内存里的锁。'],
  ['SET NX: creates a key, unless it is there.', 'SET NX:建立一个 key,除非它已存在。'],
  ['Lease, ttl: how long a lock lasts that ends by itself.', '租期(ttl):会自己结束的锁能持续多久。'],
  ['Lua: Redis runs a script in it as one step.', 'Lua:Redis 把用它写的脚本作为一步运行。'],
  ['Watchdog: renews the lease while the holder is at work.', '看门狗:持有者工作期间不断续期。'],
  ['Lines: the stock, and dashed what it should be.', '线条:库存;虚线是应有的库存。'],
];
