// The ten steps of the lesson, in both languages side by side: what one is asked, and the scenario page that answers.

import type { Both } from './language.ts';
import type { Wanted } from './turning.ts';

/** What can go wrong: to A, or to a node. */
export const faults = ['none', 'ask again', 'slow', 'hold release', 'hold write', 'pause', 'kill', 'cut'] as const;
export type Fault = (typeof faults)[number];

/** What the page of a step is made of. */
export interface Knobs {
  leaseMs: number;
  /** How long the sale of A takes. */
  takesMs: number;
  /** From 1 to 4. A comes first. */
  buyers: number;
  /** Where the others come when no node and no command is harmed: to node-1 as well, or to node-2. */
  nodes: 1 | 2;
  fault: Fault;
  /** The node that is paused, killed or cut off, as soon as its sale is there. */
  faultAt: 1 | 2;
  /** The lock, where it is not the one of the step. */
  stage?: string;
}

/** How far a knob goes. */
export const limits = { leaseMs: [100, 1_500], takesMs: [0, 1_500], buyers: [1, 4] } as const;

/** What a fault is called. */
export const faultNames: Record<Fault, Both> = {
  none: ['nothing goes wrong', '一切正常'],
  'ask again': ['A asks for its own lock', 'A 再次申请自己的锁'],
  slow: ["A's connection is slow", 'A 的网络很慢'],
  'hold release': ["A's release is held up", 'A 的释放卡在路上'],
  'hold write': ["A's write is held up", 'A 的写入卡在路上'],
  pause: ['a node is paused', '节点停顿'],
  kill: ['a node crashes', '节点宕机'],
  cut: ['a node is cut off', '节点断开连接'],
};

export interface Lesson extends Wanted {
  stage: string;
  /** The stage that it is compared with. */
  before?: string;
  /** In the navigation. */
  name: Both;
  /** What is wrong before it, and what it does about that. */
  problem: Both;
  change: Both;
  /** Asked before anything is played. */
  question: Both;
  /** Each with why it is right, or wrong. */
  answers: { text: Both; why: Both }[];
  right: number;
  /** What remains open. */
  after: Both;
  usual: Knobs;
  page(knobs: Knobs): string;
  /** What real servers play of it. */
  drill: string;
  /** A load that shows it at large. */
  rush?: string;
}

const usual: Knobs = { leaseMs: 500, takesMs: 0, buyers: 2, nodes: 2, fault: 'none', faultAt: 1 };

/** How long a sale takes that comes after A, in milliseconds: long enough to be met. */
const OTHERS_MS = 150;
/** What goes wrong meets a sale that takes so long at least. */
const LEAST_MS = 50;

/** A page of these knobs, as `npm run drill -- ./my.txt` plays it, too. */
const pageOf = (name: string, question: string) => (knobs: Knobs) => {
  const { leaseMs, buyers, fault, faultAt } = knobs;
  const holds = ['no sale is lost'];
  if (fault === 'ask again') holds.unshift('A does not wait for itself');
  if (fault === 'kill' && faultAt === 1 && buyers > 1) holds.unshift('B succeeds');
  const paragraphs = [
    [name, question],
    [`a lease lasts ${leaseMs} ms`],
    ...(isHarmed(fault) ? storyOfNode(knobs, fault) : storyOfSale(knobs)),
    ['all sales end'],
    holds.map((each) => `holds when ${each}`),
  ];
  return paragraphs.map((lines) => lines.join('\n')).join('\n\n');
};

/** It meets a node, and whatever is there. */
const isHarmed = (fault: Fault): fault is 'pause' | 'kill' | 'cut' =>
  fault === 'pause' || fault === 'kill' || fault === 'cut';
const take = (node: string, ms: number) => `the next sales at ${node} take ${ms} ms each`;
const othersOf = ({ buyers }: Knobs) => ['B', 'C', 'D'].slice(0, buyers - 1);
/** Each has its time, until so many leases have passed. */
const sell = (sales: string[], node: string) =>
  sales.length === 0 ? ['2 leases pass'] : sales.map((sale) => `${sale} sells at ${node}, and gives up after 4 leases`);

/** A sells undisturbed, or what goes wrong meets A alone. */
function storyOfSale(knobs: Knobs): string[][] {
  const { leaseMs, takesMs, nodes, fault } = knobs;
  const others = othersOf(knobs);
  const ms = Math.max(takesMs, LEAST_MS);
  const come = (node: string) => others.map((sale) => `${sale} sells at ${node}`);
  const there = `node-${nodes}`;
  switch (fault) {
    case 'ask again': {
      const asks = `A sells at node-1 for ${ms} ms, and is held before it acquires again with the same lock object`;
      return [
        [asks, ...come(there)],
        ['A resumes', 'A ends, or gives up after 2 leases'],
      ];
    }
    case 'slow': {
      // A sale asks Redis three times: for the lock, for the stock, and to write.
      const slow = `the connection of node-1 is slow: each reply from Redis is ${Math.round(ms / 3)} ms late`;
      // Who comes when the lease is over meets nothing but its end.
      const comes = ['A sells at node-1', `${leaseMs + 10} ms pass`, ...come(there)];
      return [[slow, take(there, OTHERS_MS)], comes, ['A ends', 'the connection of node-1 is restored']];
    }
    case 'hold release':
    case 'hold write': {
      const what = fault === 'hold write' ? 'write' : 'release';
      const held = `A resumes, and its ${what} is held on the way to Redis`;
      const begins = ['A sells at node-1 and is held inside', `${ms} ms pass`, held];
      const arrives = `the ${what} of A arrives`;
      const [first, ...rest] = come('node-2');
      if (what === 'write' || first === undefined)
        return [begins, sell(others, 'node-2'), [arrives, 'the connection of node-1 is restored']];
      const meanwhile = [`${first} and is held inside, or waits for 3 leases`, take('node-2', OTHERS_MS), ...rest];
      return [
        begins,
        meanwhile,
        [arrives, `${OTHERS_MS} ms pass`, 'B resumes', 'B ends', 'the connection of node-1 is restored'],
      ];
    }
    default: {
      const others = nodes === 1 ? [] : [take(there, OTHERS_MS)];
      return [...(takesMs > 0 ? [[take('node-1', takesMs), ...others]] : []), ['A sells at node-1', ...come(there)]];
    }
  }
}

/** A node is harmed while one of its sales is there, and others come to the other one. */
function storyOfNode(knobs: Knobs, fault: 'pause' | 'kill' | 'cut'): string[][] {
  const { takesMs, faultAt } = knobs;
  const node = `node-${faultAt}`;
  const [begins, over] = {
    pause: [`${node} is paused (SIGSTOP)`, [`${node} resumes (SIGCONT)`]],
    kill: [`${node} is killed (SIGKILL)`, []],
    cut: [`${node} is cut off from the servers of its lock`, [`${node} reaches the servers of its lock again`]],
  }[fault] as [string, string[]];
  // What is paused goes on by itself. Who is cut off must not write before it is connected again.
  const isHeld = fault === 'cut';
  const inside = isHeld
    ? 'A sells at node-1 and is held inside'
    : `A sells at node-1 for ${Math.max(takesMs, LEAST_MS)} ms and is inside`;
  const ends = isHeld ? [...over, 'A resumes', 'A ends, or gives up after 2 leases'] : over;
  const end = ends.length > 0 ? [ends] : [];
  const others = othersOf(knobs);
  if (faultAt === 1) return [[inside, begins], sell(others, 'node-2'), ...end];
  const [first, ...rest] = others;
  // It has asked for the lock by then.
  const comes = first ? [`${first} sells at node-2`, '10 ms pass'] : [];
  return [[inside, ...comes, begins], sell(rest, 'node-1'), ...end];
}

export const lessons: Lesson[] = [
  {
    stage: '0-none',
    name: ['race', '竞态'],
    problem: ['Two buyers come at the same moment. 100 units are in stock.', '两个买家同时来买，库存 100 件。'],
    change: ['Nothing protects the sale.', '没有任何保护。'],
    breaks: ['same-read'],
    keeps: [],
    question: [
      'A sale reads the stock, then writes back one less. There are 100 units. A and B each buy one at the same moment. How many are left?',
      '一笔销售先读库存，再写回减一后的值。库存 100 件，A 和 B 同时各买一件。之后库存是多少？',
    ],
    answers: [
      {
        text: ['98 units.', '98 件。'],
        why: [
          'Two buyers paid, but B read the stock before A had written. So both wrote 99 and sold unit 100.',
          '两个买家都付了款，但 A 还没写回，B 就已读走库存。所以两笔都写回 99，都卖出第 100 件。',
        ],
      },
      {
        text: ['99 units.', '99 件。'],
        why: [
          'Both read 100 before either had written, so both wrote 99. Unit 100 was sold twice.',
          '两笔都在对方写回之前读到 100，所以都写回 99。第 100 件卖了两次。',
        ],
      },
      {
        text: ['99 units, and one buyer gets an error.', '99 件，其中一个买家收到错误。'],
        why: [
          'Nobody checks. Redis accepts both writes, and both buyers are told that they bought it.',
          '没有人检查。Redis 接受两次写入，两个买家都得到“购买成功”。',
        ],
      },
    ],
    right: 1,
    after: [
      'While one sale is between its read and its write, no other sale may start. That takes a lock.',
      '一笔销售从读到写之间，别的销售不能开始。这需要一把锁。',
    ],
    usual,
    drill: 'rush',
    page: pageOf('two-buyers', 'Do two buyers get two different units?'),
    rush: 'rush',
  },
  {
    stage: '1-in-process',
    before: '0-none',
    name: ['mutex', '互斥锁'],
    problem: ['Now both buyers come to the same node.', '现在两个买家来到同一个节点。'],
    change: ['A mutex in the process lets one sale in at a time.', '进程内的互斥锁一次只放一笔销售进入临界区。'],
    breaks: ['same-read'],
    keeps: ['mutex-wait'],
    question: [
      'A and B both come to node-1 now: one process, one thread. Can a unit still be sold twice?',
      '现在 A 和 B 都来到 node-1：一个进程，一个线程。还会有一件货卖两次吗？',
    ],
    answers: [
      {
        text: ['No: one thread does one thing at a time.', '不会：一个线程一次只做一件事。'],
        why: [
          "While A's sale waits for Redis to answer, the thread is free, so it starts B's sale.",
          'A 的销售等 Redis 回复时，线程是空闲的，于是开始处理 B 的销售。',
        ],
      },
      {
        text: ['Only if Redis answers in the wrong order.', '只有 Redis 的回复乱序时才会。'],
        why: [
          'The replies came in order. Both sales still read 100, because neither had written yet.',
          '顺序没有错。两笔都还没写回，所以照样都读到 100。',
        ],
      },
      {
        text: ['Yes: while A waits for Redis, B starts.', '会：A 等 Redis 时，B 就开始了。'],
        why: [
          "Each await lets other code run, so B read the stock between A's read and A's write.",
          '每个 await 都会让出线程，所以 B 的读插到了 A 的读和写之间。',
        ],
      },
    ],
    right: 2,
    after: [
      'Within one process a mutex is enough. But this shop runs two processes.',
      '在一个进程里，互斥锁就够了。但商店有两个进程。',
    ],
    usual: { ...usual, nodes: 1 },
    drill: 'one-node-rush',
    page: pageOf('one-node', 'Do two buyers at one node get two different units?'),
  },
  {
    stage: '2-recursive-retry',
    before: '1-in-process',
    name: ['Redis lock', 'Redis 锁'],
    problem: ['Each node has a mutex now, and B comes to node-2.', '现在两个节点都有互斥锁，而 B 来到 node-2。'],
    change: ['The lock is now a key in Redis, which both nodes share.', '锁是 Redis 里的一个 key，两个节点共用。'],
    breaks: ['same-read'],
    keeps: ['denied'],
    question: [
      'A is inside at node-1 and holds its mutex. B comes to node-2, which runs the same code. What happens?',
      'A 在 node-1 持有互斥锁，正在临界区内。B 来到 node-2，那里运行同样的代码。会怎样？',
    ],
    answers: [
      {
        text: ['B gets in at once.', 'B 马上进入临界区。'],
        why: [
          'A mutex is a variable in the memory of one process. node-2 has its own, and that one is free.',
          '互斥锁只是一个进程内存里的变量。node-2 有自己的一把，而且是空闲的。',
        ],
      },
      {
        text: ['B waits until A has left.', 'B 等到 A 离开。'],
        why: [
          "node-2 can't see the mutex of node-1: it is a variable in the memory of the other process.",
          'node-2 看不到 node-1 的互斥锁：那是另一个进程内存里的变量。',
        ],
      },
      {
        text: ['node-2 asks node-1 who is inside.', 'node-2 会问 node-1 谁在里面。'],
        why: ["The nodes don't talk to each other. All they share is Redis.", '节点之间不通信，它们只共用 Redis。'],
      },
    ],
    right: 0,
    after: [
      'Redis runs one command at a time, so only one sale can create the key. But how does the other one wait?',
      'Redis 一次只执行一条命令，所以只有一个能创建 key。但另一个是怎么等的？',
    ],
    usual,
    drill: 'rush',
    page: pageOf('two-nodes', 'Do two buyers at two nodes get two different units?'),
  },
  {
    stage: '3-spin',
    before: '2-recursive-retry',
    name: ['loop', '循环'],
    problem: [
      'B has a long wait. After each failed try, acquire calls itself.',
      'B 要等很久。每次失败后，acquire 都调用自己。',
    ],
    change: ['The wait is now a loop: one call, however long it takes.', '等待改成了循环：无论多久，都只是一个调用。'],
    breaks: ['same-read'],
    keeps: ['tries'],
    question: [
      "A's sale takes 200 ms. B asks for the lock every 20 ms: acquire fails, sleeps, and calls itself. What does B's wait cost?",
      'A 的销售要 200 毫秒。B 每 20 毫秒请求一次加锁：acquire 失败后睡眠，再调用自己。B 的等待有什么代价？',
    ],
    answers: [
      {
        text: ['Nothing: each call returns before the next one starts.', '没有代价：每个调用返回之后，才开始下一个。'],
        why: [
          'None of them returns: each one awaits the call that it made, down to the last one.',
          '没有一个返回。每个调用都在 await 它发起的下一个调用，直到最后一个。',
        ],
      },
      {
        text: [
          'Memory: no call returns before the last one gets the lock.',
          '内存：最后一个拿到锁之前，没有一个调用返回。',
        ],
        why: [
          'Each call awaits the next one, and stays in memory. The longer the wait, the more calls pile up.',
          '每个调用都在等下一个，一直留在内存里。等得越久，堆得越高。',
        ],
      },
      {
        text: [
          'A unit: out of so many tries, one gets in next to A.',
          '多卖一件：试这么多次，总有一次与 A 同时进入临界区。',
        ],
        why: [
          'However often B asks, the key is there. B gets in only after A has released it.',
          '无论 B 试多少次，key 都还在。A 释放之后，B 才能进入临界区。',
        ],
      },
    ],
    right: 1,
    after: [
      'Nothing was sold twice before either: the loop saves memory. But what if the holder crashes?',
      '之前也没有重复卖出，循环省的是内存。但如果持有者宕机了呢？',
    ],
    usual: { ...usual, takesMs: 200 },
    drill: 'patient-buyer',
    page: pageOf('long-wait', 'Does a buyer who waits long get a unit of its own?'),
  },
  {
    stage: '4-ttl',
    before: '3-spin',
    name: ['lease', '租期'],
    problem: ['node-1 crashes while A holds the lock.', 'A 持有锁时，node-1 宕机。'],
    change: ['The key now has a lease: Redis deletes it after 500 ms.', 'key 有租期：500 毫秒后 Redis 自动删除。'],
    breaks: ['closed'],
    keeps: ['after-lease'],
    question: [
      'node-1 crashes while A holds the lock. When does B get the lock?',
      'A 持有锁时，node-1 宕机。B 什么时候能拿到锁？',
    ],
    answers: [
      {
        text: ['At once: Redis notices that the connection is closed.', '马上：Redis 发现连接断开。'],
        why: [
          'The connection is gone, but the key stays: keys do not belong to connections.',
          '连接没了，key 还在：key 不属于任何连接。',
        ],
      },
      {
        text: ['After node-1 has restarted.', 'node-1 重启之后。'],
        why: [
          "The new process knows nothing about A's sale, so it does not delete the key.",
          '新的进程不知道 A 的销售，不会去删 key。',
        ],
      },
      {
        text: ['Never.', '永远拿不到。'],
        why: [
          'Only A would have deleted the key, and A has crashed. Everybody waits forever.',
          '只有 A 会删除这个 key，而 A 已经宕机。所有人都会一直等下去。',
        ],
      },
    ],
    right: 2,
    after: [
      'A holder that crashed loses its lock when the lease ends. So does one that is merely slow.',
      '持有者宕机，租期一到就失去锁。只是慢的持有者也一样。',
    ],
    usual: { ...usual, fault: 'kill' },
    drill: 'crashed-holder',
    page: pageOf('crashed-holder', 'Do sales resume after a holder has crashed?'),
  },
  {
    stage: '5-owner-check',
    before: '4-ttl',
    name: ['owner', '持有者'],
    problem: ['A is slow. Its lease ends before it releases.', 'A 很慢，还没释放，租期就到了。'],
    change: [
      'The key now names its owner. A release checks it first, then deletes it.',
      'key 写明持有者。释放时先判断，再删除。',
    ],
    breaks: ['freed-other'],
    keeps: ['look'],
    question: [
      "A's connection is slow, and its lease ends before its release. B gets the lock. Then A's DEL arrives. What does it delete?",
      'A 的网络很慢，还没释放，租期就到了。B 拿到了锁，然后 A 的 DEL 到达。它会删掉什么？',
    ],
    answers: [
      {
        text: ["Nothing: A's key is already gone.", '什么也不删：A 的 key 已经没了。'],
        why: [
          "Everybody uses the same key. It is B's now, and DEL deletes it all the same.",
          '所有人用的是同一个 key 名。现在那里是 B 的，DEL 照样删掉。',
        ],
      },
      {
        text: ["B's lock.", 'B 的锁。'],
        why: [
          'Everybody uses the same key, and its value says "held", but not by whom.',
          '所有人用的是同一个 key 名，值只写着 "held"，没写是谁的。',
        ],
      },
      {
        text: ['Nothing: Redis lets only B delete it.', '什么也不删：Redis 只允许 B 删除。'],
        why: [
          'Redis does not remember who set a key. Any client may delete it.',
          'Redis 不记录 key 是谁设置的，任何客户端都能删。',
        ],
      },
    ],
    right: 1,
    after: [
      'The check and the delete are two commands. Something can happen in between.',
      '先判断，再删除：这是两条命令，中间可能发生别的事。',
    ],
    usual: { ...usual, takesMs: 600, buyers: 3, fault: 'slow' },
    drill: 'slow-holder',
    page: pageOf('slow-holder', 'Does a holder that was too slow harm those after it?'),
  },
  {
    stage: '6-lua-release',
    before: '5-owner-check',
    name: ['Lua release', 'Lua 释放'],
    problem: [
      'A checks that the lock is its own. Then its DEL is held up on the way.',
      'A 判断锁是自己的，但随后的 DEL 卡在路上。',
    ],
    change: ['One Lua script now checks and deletes in a single step.', '用一段 Lua 脚本原子地判断并删除。'],
    breaks: ['freed-other'],
    keeps: ['release-refused'],
    question: [
      'A checks that the lock is its own, and sends a DEL. The DEL is held up until the lease has ended and B has the lock. What does it do?',
      'A 先判断：锁是自己的，于是发出 DEL。DEL 卡在路上，直到租期到了、B 拿到了锁。DEL 到达后会怎样？',
    ],
    answers: [
      {
        text: ["It deletes B's lock.", '删掉 B 的锁。'],
        why: [
          'The check was right when A made it, but no longer is. DEL itself checks nothing.',
          'A 判断时没有错，但现在情况变了。DEL 本身什么也不检查。',
        ],
      },
      {
        text: ['It deletes nothing: A has checked first.', '什么也不删：A 事先判断过。'],
        why: [
          'A checked before B had the lock. The DEL does not check again.',
          'A 判断的时候，B 还没有拿到锁。DEL 本身不会再判断一次。',
        ],
      },
      {
        text: ['It is dropped, because it comes too late.', '被丢弃：它来得太晚。'],
        why: [
          'Redis does not know when a command was sent. It runs whatever arrives.',
          'Redis 不知道命令是什么时候发出的，到了就执行。',
        ],
      },
    ],
    right: 0,
    after: [
      "Nobody deletes another sale's lock any more. But what if a sale asks for a lock that it already holds?",
      '再也不会误删别人的锁了。但如果一笔销售再次申请自己持有的锁呢？',
    ],
    usual: { ...usual, buyers: 3, fault: 'hold release' },
    drill: 'late-release',
    page: pageOf('late-release', 'Does a release that arrives late free the lock of another holder?'),
  },
  {
    stage: '7-reentrant',
    before: '6-lua-release',
    name: ['reentrant', '可重入'],
    problem: ['A holds the lock, and calls code that asks for it again.', 'A 持有锁，又调用了一段申请同一把锁的代码。'],
    change: ['The lock now counts: its owner may take it again.', '锁会计数：持有者可以再次加锁。'],
    breaks: ['own-lock'],
    keeps: ['acquire-again'],
    question: [
      'A holds the lock, and calls a function that acquires the same lock. What happens?',
      'A 持有锁，又调用了一个要加同一把锁的函数。会怎样？',
    ],
    answers: [
      {
        text: ['It gets the lock: it is the owner.', '加锁成功：它就是持有者。'],
        why: ['SET NX only asks whether the key exists, not whose it is.', 'SET NX 只看 key 在不在，不看是谁的。'],
      },
      {
        text: ['Redis detects the deadlock and returns an error.', 'Redis 发现死锁，返回错误。'],
        why: [
          'Redis does not know who waits for whom. It only says that the key exists.',
          'Redis 不知道谁在等谁，只回答 key 已存在。',
        ],
      },
      {
        text: ['A waits for itself.', 'A 在等自己。'],
        why: [
          'SET NX fails while the key exists, whoever asks. Only A could delete it, and A is waiting.',
          '只要 key 还在，谁来 SET NX 都失败。只有 A 能删它，而 A 在等。',
        ],
      },
    ],
    right: 2,
    after: [
      'A may acquire twice, and then has to release twice. But its lease still ends, even while it works.',
      'A 可以加锁两次，也要释放两次。但即使它还在工作，租期照样会到。',
    ],
    usual: { ...usual, takesMs: 100, fault: 'ask again' },
    drill: 'nested-call',
    page: pageOf('nested-call', 'Can a holder acquire its own lock again?'),
  },
  {
    stage: '8-auto-renew',
    before: '7-reentrant',
    name: ['watchdog', '看门狗'],
    problem: ["A's sale takes 900 ms, but its lease only lasts 500 ms.", 'A 的销售要 900 毫秒，租期只有 500 毫秒。'],
    change: ['A watchdog now renews the lease while A works.', 'A 工作期间，看门狗不断续期。'],
    breaks: ['same-read'],
    keeps: ['renew'],
    question: [
      'A works for 900 ms with a lease of 500 ms, and B waits. What happens after 500 ms?',
      'A 要工作 900 毫秒，锁的租期是 500 毫秒，B 在等待。500 毫秒后会怎样？',
    ],
    answers: [
      {
        text: ['Redis stops A.', 'Redis 让 A 停下。'],
        why: [
          'Redis deletes the key and tells nobody. A carries on, and thinks it still holds the lock.',
          'Redis 只删除 key，不通知任何人。A 继续执行，以为自己仍持有锁。',
        ],
      },
      {
        text: ['B gets in, and A is still inside.', 'B 进入临界区，而 A 还在里面。'],
        why: [
          'The key is gone, so B gets the lock. Nobody tells A, and both have read 100.',
          'key 没了，B 就能加锁。没有人通知 A，所以两笔都读到 100。',
        ],
      },
      {
        text: ['The lease is extended as long as A is connected.', '只要 A 还连着，租期就会延长。'],
        why: [
          'The lease counts down, connected or not, unless somebody renews it.',
          '无论 A 是否连着，租期都在倒数，除非有人续期。',
        ],
      },
    ],
    right: 1,
    after: [
      "One hole is left: a paused process can't renew. It wakes up, and thinks it still holds the lock.",
      '还有一个漏洞：停顿的进程无法续期，醒来后还以为自己持有锁。',
    ],
    usual: { ...usual, takesMs: 900 },
    drill: 'long-sale',
    page: pageOf('long-sale', 'Does a sale keep its lock when it takes longer than the lease?'),
  },
  {
    stage: 'fenced',
    before: '8-auto-renew',
    name: ['fencing', 'fencing 令牌'],
    problem: ["node-1 is paused in the middle of a sale, so it can't renew.", 'node-1 在销售中途停顿，无法续期。'],
    change: [
      'Each holder gets a number, its token, larger than the last. The stock refuses older tokens.',
      '每个持有者得到一个更大的编号，叫令牌。库存拒绝带旧令牌的写入。',
    ],
    breaks: ['overwritten'],
    keeps: ['write-refused'],
    question: [
      "node-1 is paused for longer than the lease, for example by garbage collection. B sells. Then node-1 wakes up. What happens to A's write?",
      'node-1 停顿的时间超过租期，比如因为垃圾回收。B 卖出一件，然后 node-1 恢复。A 的写入会怎样？',
    ],
    answers: [
      {
        text: ['A notices that its lock is gone, and writes nothing.', 'A 发现锁没了，不再写入。'],
        why: [
          'To notice, it has to ask. By the time the answer comes, its write is already on its way.',
          '要发现就得先问。等回答到来时，写命令已经发出去了。',
        ],
      },
      {
        text: ['Redis refuses it: B has had the lock since.', 'Redis 拒绝：这期间 B 持有过锁。'],
        why: [
          'To Redis, the lock and the stock are two separate keys. A SET of one ignores the other.',
          '对 Redis 来说，锁和库存是两个 key。SET 其中一个，不会去看另一个。',
        ],
      },
      {
        text: ["It overwrites B's write.", '写入成功，覆盖 B 的写入。'],
        why: [
          'A does not know that it was paused. It writes 99, as if it still held the lock.',
          'A 不知道自己停顿过。它写回 99，以为锁还是自己的。',
        ],
      },
    ],
    right: 2,
    after: [
      'No lock can stop a late write. Only the store that is written to can refuse it.',
      '锁拦不住迟到的写入，只有被写入的一方能拒绝它。',
    ],
    usual: { ...usual, takesMs: 200, fault: 'pause' },
    drill: 'paused-process',
    page: pageOf('paused-process', 'Is a unit sold twice when a holder is paused and wakes up late?'),
  },
];

/** The words of the page. */
export const glossary: Both[] = [
  ['Node: one of the two processes that sell.', '节点：两个卖货的进程之一。'],
  [
    'Stage: one version of the lock. Each fixes what the one before got wrong.',
    '阶段：锁的一个版本，每个都修复前一个的问题。',
  ],
  [
    'Redis: a store that both nodes share. It holds the stock and the lock.',
    'Redis：两个节点共用的存储，库存和锁都在里面。',
  ],
  [
    'Key: a name under which Redis keeps a value. The lock is a key.',
    'key（键）：Redis 用来存放一个值的名字。锁就是一个 key。',
  ],
  ['SET NX: creates a key, unless it exists.', 'SET NX：只在 key 不存在时创建它。'],
  ['PX 500: Redis deletes the key after 500 ms.', 'PX 500：500 毫秒后 Redis 自动删除这个 key。'],
  ['DEL: deletes a key.', 'DEL：删除一个 key。'],
  [
    'Inside: after getting the lock, and before releasing it.',
    '临界区（critical section）：加锁成功之后、释放之前的部分。',
  ],
  ['Holder: the sale that has the lock now.', '持有者（holder）：现在持有锁的销售。'],
  [
    '"held", {A: 1}: the value of the lock. "held" names nobody; {A: 1} says that A holds it once.',
    '"held"、{A: 1}：锁的值。"held" 没写是谁的；{A: 1} 表示 A 持有 1 次。',
  ],
  ['Mutex: a lock in the memory of one process.', '互斥锁（mutex）：一个进程内存里的锁。'],
  ['Lease, TTL: how long a key lasts before Redis deletes it.', '租期（lease、TTL）：Redis 自动删除 key 之前的时间。'],
  ['Release: the holder gives the lock back.', '释放（release）：持有者归还锁。'],
  [
    'Held up: a command has left its node, and has not reached Redis yet.',
    '卡在路上（滞留）：命令已离开节点，还没有到达 Redis。',
  ],
  [
    'Lua: Redis runs a Lua script as one step. Nothing can happen in between.',
    'Lua：Redis 把一段脚本作为一步执行，中间不会发生别的事。',
  ],
  ['Reentrant: the holder may acquire the lock again.', '可重入（reentrant）：持有者可以再次加锁。'],
  ['Watchdog: renews the lease while the holder works.', '看门狗（watchdog）：持有者工作期间不断续期。'],
  [
    'Fencing token: a number that grows with each holder, and that the stock checks.',
    'fencing 令牌：每换一个持有者就变大的编号，由库存检查。',
  ],
  [
    'Interleaving: one order in which the steps of several sales can happen.',
    '交错（interleaving）：多笔销售的步骤先后发生的一种顺序。',
  ],
  ['nginx: sends each buyer to one of the nodes.', 'nginx：把每个买家转给一个节点。'],
];
