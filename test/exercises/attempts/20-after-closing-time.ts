import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'notes that the sale is over, and looks at that after the renewal',
    from: 'lock',
    replace: [
      [
        '  let watchdog: NodeJS.Timeout | undefined;\n',
        '  let watchdog: NodeJS.Timeout | undefined;\n  let isOver = false;\n',
      ],
      ['if (renewed === 0)', 'if (renewed === 0 || isOver)'],
      ['  async function release() {\n', '  async function release() {\n    isOver = true;\n'],
    ],
    fails: 'long-sale',
    reason: 'changes the lock of',
  },
  {
    what: 'ends the timer after ten ticks',
    from: 'lock',
    replace: [
      [
        '  let watchdog: NodeJS.Timeout | undefined;\n',
        '  let watchdog: NodeJS.Timeout | undefined;\n  let ticks = 0;\n',
      ],
      ['    // 0 when', '    ticks += 1;\n    if (ticks > 10) return clearInterval(watchdog);\n    // 0 when'],
    ],
    fails: 'long-sale',
    reason: 'changes the lock of',
  },
  {
    what: 'ends the timer of the last sale when the next one begins',
    from: 'lock',
    replace: [['    watchdog = setInterval', '    clearInterval(watchdog);\n    watchdog = setInterval']],
    fails: 'long-sale',
    reason: 'changes the lock of',
  },
  {
    what: 'renews once, so that there is no timer to end',
    from: 'lock',
    replace: [['setInterval(renew', 'setTimeout(renew']],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
];
