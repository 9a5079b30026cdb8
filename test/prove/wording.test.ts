import { expect, test } from 'vitest';
import { scopes } from '../../prove/scopes.ts';
import { happens, inEnglish, type SearchSentence, says } from '../../prove/wording.ts';
import { inChinese } from '../../prove/wording.zh.ts';
import { asRead } from '../../prove/words.ts';

const evalRelease = asRead(['EVAL', 'return 1', 1, 'lock', 'A:1']);
const set = asRead(['SET', 'lock', 'A:1', 'PX', 900, 'NX']);
const timer = happens('timer fires');

const table: [SearchSentence, english: string, chinese: string][] = [
  [
    says('move', { process: 'B', what: { form: 'with luck', values: { what: timer, chance: 0.9 } } }),
    'B runs a timer (Math.random() is 0.9)',
    'B 的一个定时器触发（Math.random() 为 0.9）',
  ],
  [
    says('made, with a reply', {
      process: 'A',
      what: happens('sends', { command: set }),
      reply: '"OK"',
      came: [{ at: 0, step: 'entered', sale: 1 }],
    }),
    'A: SET lock A:1 PX 900 NX → "OK" · A is inside',
    'A：SET lock A:1 PX 900 NX → "OK" · A 进入临界区',
  ],
  [
    says('made', { process: 'A', what: happens('sends late', { command: evalRelease }), came: [] }),
    'A: a script of the lock, sent in full, of lock with A:1, held until now,',
    'A：自定义脚本（发送脚本全文，键 lock，参数 A:1），滞留后到达',
  ],
  [
    says('something left', {
      left: [
        { form: 'key', values: { key: 'lock' } },
        { form: 'timer', values: { process: 'B', ms: 300 } },
      ],
    }),
    'All sales have ended, but there is still the key lock, a timer of B for 300 ms.',
    '所有销售都已结束，却还留有键 lock、B 在 300 毫秒的定时器。',
  ],
  [
    says('replay differs', {
      ...{ replay: 1, of: 20, step: 3 },
      differs: { form: 'replied otherwise', values: { reply: '0', wanted: '1' } },
    }),
    'Replay 1 of 20 of the counterexample diverged at step 3: the reply is 0 instead of 1.',
    '反例的第 1 次重放（共 20 次）在第 3 步走了另一条路：响应是 0，而不是 1。',
  ],
];

test.each(table)('%j, in both languages', (sentence, english, chinese) => {
  expect([inEnglish(sentence), inChinese(sentence)]).toEqual([english, chinese]);
});

test('every scope, in both languages', () => {
  for (const { name, says: english } of scopes) {
    expect(inEnglish(says('scope', { name }))).toBe(english);
    expect(inChinese(says('scope', { name }))).toMatch(/^[^,:;()]*\p{Script=Han}[^,:;()]*。$/u);
  }
});
