// What the search says, in Chinese, by its form: its scopes, its steps, and what is wrong with a lock.

export const ofSearch: Record<string, string> = {
  'No fault is staged.': '没有制造故障。',
  'No fault is staged, and nobody may wait while the lock is free.': '没有制造故障;锁空闲时谁也不能等待。',
  'The server knows no script yet.': '服务器还不认识任何脚本。',
  'A holder is killed.': '一个持有者被杀死。',
  'A holder is paused, and what it does later must not harm the next holder.':
    '一个持有者被暂停;它之后做的事不能伤害下一个持有者。',
  'A release is held up on its way, and must not harm the next holder.':
    '一条释放命令卡在路上;它不能伤害下一个持有者。',
  'A holder asks for its own lock once more.': '一个持有者再次申请自己的锁。',
  'A holder asks once more through another lock object of the same request.':
    '一个持有者通过同一请求的另一个锁对象再次申请锁。',
  'Each sale takes two and a half leases.': '每笔销售要用两个半租期。',
  'A holder is paused, and no sale may be lost.': '一个持有者被暂停;一笔销售也不能丢。',
  'A write is held up until another sale has written.': '一条写命令卡在路上,直到另一笔销售写完。',
  'A write is held up until another sale has read, and not yet written.':
    '一条写命令卡在路上,直到另一笔销售已读、还没写。',
  'The server is replaced by a replica that has not heard of the last command.':
    '服务器被副本接替,副本没有收到最后一条命令。',
  'A client hangs up while it waits.': '一个客户端在等待时挂断。',
  'The first holder outlives its lease in a pause, and goes on for long; the next holder is killed.':
    '第一个持有者暂停到租期之后,又继续很久;下一个持有者被杀死。',

  '{a} begins a sale': '{a} 开始一笔销售',
  '{a}: {command}': '{a}:{command}',
  '{a}: {command}, held up until now,': '{a}:卡住的 {command} 到达',
  '{a}: {command}, held up until now, → {reply}': '{a}:卡住的 {command} 到达 → {reply}',
  '{a} reads the reply {reply}': '{a} 读到回答 {reply}',
  '{a} has a timer fire': '{a} 的一个定时器触发',
  '{a} hears {command} on {channel}': '{a} 在 {channel} 上听到 {command}',
  '{a} is paused': '{a} 被暂停',
  '{a} wakes up': '{a} 醒来',
  '{a} has a command held up: {command}': '{a} 的一条命令卡在路上:{command}',
  '{a} is killed': '{a} 被杀死',
  '{a} has a client that hangs up': '{a} 的客户端挂断',
  'the clock goes on to {count} ms': '时钟走到 {count} 毫秒',
  'the server fails, and its replica has not heard of the last command': '服务器失效,副本没有收到最后一条命令',
  'Math.random() is {number}': 'Math.random() 是 {number}',
  '{a} is inside': '{a} 在锁里面',
  '{a} has its own lock once more': '{a} 再次拿到自己的锁',
  '{a} has read stock {count}': '{a} 读到库存 {count}',
  '{a} has written stock {count}': '{a} 写入库存 {count}',
  '{a} finds it sold out': '{a} 发现已售完',
  '{a} leaves': '{a} 离开',
  '{a} looks again': '{a} 再看一次',
  '{a} has given the lock up': '{a} 已释放锁',
  '{a} fails: {text}': '{a} 失败:{text}',

  '{a} ends by an error that nobody catches: {text}': '{a} 因一个没人捕获的错误而结束:{text}',
  'The stock refuses {a}, whose lease runs: another has a newer token.':
    '库存拒绝了 {a},虽然它的租期未到:别人有更新的令牌。',
  '{a} changes the lock that {b} holds: {b} is inside and within its lease.':
    '{a} 改动了 {b} 持有的锁:{b} 在锁里面,租期未到。',
  '{a} waits, and the lock is free since {count} ms.': '{a} 在等待,而锁从 {count} 毫秒起就空闲。',
  'Nobody has entered within two leases ({count} ms) of the crash.': '崩溃后两个租期({count} 毫秒)内没有人进入。',
  '{a} waits for its own lock until its lease is over.': '{a} 等自己的锁,一直等到租期结束。',
  '{a} and {b} are inside at the same time.': '{a} 和 {b} 同时在锁里面。',
  '{a} and {b} are inside at the same time, and the leases of both run.': '{a} 和 {b} 同时在锁里面,租期都未到。',
  '{a} waits for ever.': '{a} 永远等下去。',
  '{a} waits for ever: its sales {text} never end.': '{a} 永远等下去:它的销售 {text} 没有结束。',
  'All sales have ended, and there is still {text}.': '所有销售都已结束,却还留着 {text}。',
  '{a} still waits at {count} ms, and the lock is free since {number} ms.':
    '{count} 毫秒时 {a} 还在等待,而锁从 {number} 毫秒起就空闲。',
  'All sales have ended at {count} ms, and {a} has a timer that still fires at {number} ms.':
    '所有销售在 {count} 毫秒时已结束,{a} 的定时器到 {number} 毫秒还在触发。',
  '{sold} were sold of {count}, and {left} are left: {number} lost.':
    '{count} 件里卖出 {sold} 件,还剩 {left} 件:丢了 {number} 件。',
  'No order of events violates it.': '没有一种事件顺序能破坏它。',
  'It has seen {count} states, and not every order.': '搜索看了 {count} 个状态,还没有看完所有顺序。',
  'Nobody was inside in any order of events, so nothing was put to the test.':
    '没有一种顺序让谁进入锁,所以什么也没有检验。',
  'What may go wrong happened in no order of events, so nothing was put to the test.':
    '没有任何交错触发预设的故障,所以什么也没有检验。',
  'The lock uses {text}, which the search does not control.': '这把锁用了 {text},搜索控制不了它。',
  '{count} branches were cut at {number} ms.': '{count} 个分支在 {number} 毫秒处被截断。',
};
