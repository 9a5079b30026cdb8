// What the page says, in both languages side by side.

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];
/** A text in English and in Chinese. `{name}` stands for a value. */
export type Both = readonly [en: string, zh: string];

export const texts = {
  code: ['The code', '代码'],
  everySale: ['every sale takes these steps', '每笔销售都走这几步'],
  changed: ['new lines are marked', '标出的是新增的行'],
  seen: ['seen', '已看过'],
  share: ['Copy the address of this view', '复制当前画面的链接'],
  isShared: ['Copied', '已复制'],
  projector: ['For the projector', '投影模式'],
  turning: ['To the moment that decides', '到关键时刻'],
  speed: ['Speed', '速度'],
  whichLock: ['Which lock', '哪把锁'],
  buyers: ['Buyers', '买家'],
  two: ['2 buyers', '2 个买家'],
  sixty: ['60 buyers', '60 个买家'],
  takes: ['A sale takes', '一笔销售用时'],
  lease: ['The lease', '租期'],
  fault: ['What goes wrong', '故障'],
  atNode: ['at', '位置'],
  asText: ['As text', '查看文本'],
  playIt: ['Save it as my.txt, and play it:', '保存为 my.txt，然后运行：'],
  copy: ['Copy', '复制'],
  byHand: ['Try it', '自己动手'],
  breakIt: ['Break it', '动手弄坏'],
  title: ['Lockstep: why a shop sells a unit twice', 'Lockstep:商店为什么把一件货卖两次'],
  language: ['中文', 'English'],
  loading: ['The lab is being unpacked …', '正在打开实验室……'],
  opening: ['The shop opens …', '商店正在开门……'],
  steps: ['The steps of the lesson', '课程的步骤'],
  step: ['Step {n}', '第 {n} 步'],
  next: ['Next →', '下一步 →'],
  stock: ['Stock', '库存'],
  expected: ['should be', '应为'],
  sold: ['Sold', '已卖'],
  inside: ['inside:', '锁内:'],
  waiting: ['waits:', '等待:'],
  free: ['free', '空闲'],
  taken: ['taken', '占用'],
  noEnd: ['no end', '没有期限'],
  endsIn: ['ends in {ms} ms', '{ms} 毫秒后到期'],
  lock: ['Lock', '锁'],
  killed: ['killed', '已被杀死'],
  stopped: ['stopped', '已暂停'],
  blocked: ['computes', '正在计算'],
  play: ['Play', '播放'],
  pause: ['Pause', '暂停'],
  back: ['One step back', '后退一步'],
  forward: ['One step forward', '前进一步'],
  moment: ['Moment of the run', '运行的时刻'],
  help: ['Words and keys', '术语和按键'],
  close: ['Close', '关闭'],
  keys: [
    'Keys: space plays, ← and → step, d goes to ◆, b switches before and now, n is the next step, 1 to 3 answer.',
    '按键：空格播放，← → 逐步，d 到 ◆，b 切换之前和现在，n 下一步，1 到 3 作答。',
  ],
  report: ['The report of a run', '一次运行的报告'],
  before: ['Before', '之前'],
  after: ['Now', '现在'],
  only: ['Stage {n}, {name}', '阶段 {n},{name}'],
  right: ['You were right.', '你猜对了。'],
  wrong: ['You expected something else.', '和你猜的不同。'],
  unsaid: ['What happened:', '结果:'],
  askedFirst: ['Answer first: what do you expect?', '先回答：你认为会怎样？'],
  lost: [
    '{sold} sold, stock {stock}, should be {expected}: {lost} sold and still in stock. The shop sells them again.',
    '卖出 {sold} 件,库存 {stock},应为 {expected}:有 {lost} 件已卖出却还在库存里,商店会再卖一次。',
  ],
  kept: ['{sold} sold, stock {stock}, as it should be.', '卖出 {sold} 件,库存 {stock},正确。'],
  rushLine: ['{buyers} buyers come.', '来了 {buyers} 个买家。'],
  realServers: ['Real servers', '真实服务器'],
  playReal: ['Play on the real servers', '在真实服务器上运行'],
  stack: ['The stack', '服务器'],
  saved: ['The saved run', '保存的运行'],
  room: ['Room', '教室'],
  stage: ['Stage', '阶段'],
  scenarioOf: ['Scenario', '场景'],
  freePlay: ['Free play', '自由操作'],
  stop: ['Stop', '停止'],
  starting: ['Starting {parts} …', '正在启动 {parts}……'],
  connecting: ['Connecting to the servers …', '正在连接服务器……'],
  replica: ['its replica', '它的副本'],
  masters: ['five Redis masters', '五个 Redis 主节点'],
  twoNodes: ['two nodes', '两个节点'],
  ready: ['Ready.', '就绪。'],
  playing: ['It is played.', '正在运行。'],
  stopping: ['It is stopped.', '正在停止。'],
  over: ['The server of this page has ended.', '此页面的服务器已结束。'],
  offline: [
    'This page has no connection. If npm run live was started anew, open the address that it has printed.',
    '页面没有连接。如果重新启动了 npm run live,请打开它新打印的地址。',
  ],
  sell: ['Sell', '卖一件'],
  rush: ['200 buyers', '200 个买家'],
  holdSale: ['Hold a sale', '停住一笔销售'],
  letSaleGo: ['Let the sale go', '放行这笔销售'],
  holdRelease: ['Hold the next release', '卡住下一次释放'],
  holdWrite: ['Hold the next write', '卡住下一次写入'],
  letGo: ['Let it go', '放行'],
  kill: ['Kill', '杀死'],
  start: ['Start', '启动'],
  freeze: ['Make it stand still', '暂停'],
  goOn: ['Let it go on', '恢复'],
  cut: ['Cut it off', '断开'],
  mend: ['Connect it again', '重新连接'],
  block: ['Block its event loop', '阻塞事件循环'],
  cutReplica: ['Cut off a replica', '断开一个副本'],
  failOver: ['Fail over', '切换到副本'],
  undoAll: ['Undo all', '全部还原'],
  notShared: ['No room follows. Start the page so:', '没有共享给教室。请这样启动:'],
  follow: ['Follow and vote', '跟随并投票'],
  code_of: ['The code of {address}', '{address} 的二维码'],
  following: ['Followers: {count}', '跟随人数:{count}'],
  askRoom: ['Ask the room', '问教室'],
  closeVotes: ['Close the votes', '停止投票'],
  reveal: ['Show the answer', '公布答案'],
  forget: ['Take the question away', '撤下问题'],
  voted: ['Votes: {voted} of {followers}', '投票:{voted} / {followers}'],
  noQuestion: ['No question is asked now. Look at the wall.', '现在没有问题。请看大屏幕。'],
  choose: ['Choose an answer.', '请选择一个答案。'],
  chosen: ['Your vote counts. You may change it.', '已投票,可以更改。'],
  yours: ['Your vote', '你的选择'],
  closed: ['The votes are closed.', '投票已停止。'],
  everyOrder: ['every interleaving: {name}', '所有交错：{name}'],
  shortest: ['The shortest interleaving that breaks it.', '破坏它的最短交错。'],
  line: ['Line {line}:', '第 {line} 行：'],
  scheduler: ['You are the scheduler', '你来调度'],
  schedule: ['You choose what happens next. Try to break it.', '由你决定下一步发生什么，试着弄坏它。'],
  backToStep: ['To the step', '回到这一步'],
  arrives: ["{process}'s {command} arrives", '{process} 的 {command} 到达'],
  arrivesLate: ["{process}'s held {command} arrives", '{process} 被卡住的 {command} 到达'],
  isHeldUp: ["{process}'s {command} is held on its way", '{process} 的 {command} 卡在路上'],
  moves: ['What happens next?', '下一步发生什么？'],
  made: ['moves: {n}', '步数：{n}'],
  brokeIt: ['You broke it.', '你弄坏了它。'],
  unbroken: ['Nothing more can happen, and nothing broke.', '再没有什么会发生，什么也没有坏。'],
  breaksIn: ['It breaks in {broken} of {orders} interleavings.', '共有 {orders} 种交错，其中 {broken} 种会出错。'],
  neverBreaks: ['None of the {orders} interleavings breaks it.', '全部 {orders} 种交错都不会出错。'],
  undo: ['One step back', '后退一步'],
  again: ['From the beginning', '从头开始'],
  counting: ['The orders are counted …', '正在计算有多少种顺序……'],
  noHint: ['From here nothing can be broken any more. Go back.', '从这里开始已经破坏不了什么了。请后退。'],
  turn: ['Your turn', '轮到你'],
  begins: ['Exercise', '练习'],
  writeIt: ['Write it yourself →', '自己写一遍 →'],
  exercises: [
    'Exercises (03, 22 and those from 31 on need npm run workshop)',
    '练习（03、22 和 31 以后的要用 npm run workshop）',
  ],
  stages: ['Stages', '阶段'],
  solved: ['✔ Solved', '✔ 已解决'],
  hint: ['Show a hint', '显示提示'],
  solution: ['Solution', '答案'],
  yourLock: ['Your lock', '你的锁'],
  judge: ['Play all scenarios', '运行全部场景'],
  reset: ['Reset', '重置'],
  export: ['Export', '导出'],
  import: ['Import', '导入'],
  leaves: ['Escape, then Tab leaves the editor.', '先按 Escape 再按 Tab 可离开编辑器。'],
  playingOf: ['Playing {n} of {of} …', '正在运行第 {n} 项，共 {of} 项……'],
  untouched: [
    'Change the lock, then play all scenarios. It does not run before.',
    '改好锁之后运行全部场景。在此之前它不会运行。',
  ],
  beforeChange: ['Before your last change:', '在你最后一次修改之前：'],
  results: ['The results', '结果'],
  solvedNow: ['Solved.', '已解决。'],
  notYet: ['Not solved yet.', '还没有解决。'],
  judged: ['{passed} of {played} checks pass.', '{played} 项检查中有 {passed} 项通过。'],
  others: ['Other checks: {n}', '其他检查：{n} 项'],
  nextExercise: ['Next: {name} →', '下一个：{name} →'],
  explore: [
    'Change the stage as you like. Every scenario is played under it, and the search tries every interleaving.',
    '随意修改这个阶段。每个场景都会用它运行，搜索会尝试所有交错。',
  ],
  broken: ["It can't be played:", '无法运行：'],
  lateScenario: [
    'Nobody knows: this scenario was ended after {s} s, and on a machine at rest one takes 0.2 s. Your lock may never come to an end, or ask Redis almost without a pause, or this machine is busy.',
    '没有结论：这个场景在 {s} 秒后被终止，而在空闲的机器上一个场景只要 0.2 秒。可能是你的锁一直不结束，或几乎不停顿地访问 Redis，也可能是这台机器太忙。',
  ],
  lateSearch: [
    'Nobody knows: the search was ended after {s} s. Until then no interleaving had broken your lock. There may be too many interleavings, or your lock never comes to an end, or this machine is busy.',
    '没有结论：搜索在 {s} 秒后被终止。在那之前，没有哪种交错破坏过你的锁。可能是交错太多，或者你的锁一直不结束，也可能是这台机器太忙。',
  ],
  secondLate: ['It is the second one, so the others are not played.', '这已是第二个，所以不再运行其他场景。'],
} satisfies Record<string, Both>;

export type Text = keyof typeof texts;

let language: Language = 'en';

export const spoken = () => language;

export function speak(chosen: Language) {
  language = chosen;
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en';
  document.title = say('title');
}

/** Speaks the language that is asked for, and where none is that of the browser. */
export function speakAtFirst(asked: string | undefined) {
  speak((asked ?? navigator.language).startsWith('zh') ? 'zh' : 'en');
}

export type Values = Record<string, string | number>;

/** A count, with its thousands apart. */
export const inNumber = (count: number) => count.toLocaleString('en-US');

/** A text in the language of the page. */
export const say = (text: Text, values: Values = {}) => inLanguage(texts[text], values);
export const inLanguage = (both: Both, values: Values = {}) => filled(both[languages.indexOf(language)] ?? '', values);
export const filled = (text: string, values: Values) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
