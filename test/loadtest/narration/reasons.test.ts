import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { questionsInChinese } from '../../../loadtest/narration/questions.zh.ts';
import { because, reasoned } from '../../../loadtest/narration/reasons.ts';
import { reasonedInChinese } from '../../../loadtest/narration/reasons.zh.ts';
import { readScenario } from '../../../loadtest/scenarios/read.ts';
import { lockStaircase } from '../../../loadtest/staircase/lock-stages.ts';
import { projectDir } from '../../../stack/parts.ts';

function textsIn(kind: string) {
  const folder = join(projectDir, 'loadtest', kind);
  const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8'));
}
const pages = textsIn('scenarios').map(readScenario);

test.each([
  [
    because('key stayed', { key: 'lock:001', ms: 185_000 }),
    'The key lock:001 was left with a TTL of 3 min 5 s.',
    '键 lock:001 还在，3 分 5 秒后才过期。',
  ],
  [
    because('stock not as expected', { sold: 2_000, stock: 3_637, expected: 3_000, soldTwice: 637 }),
    '2,000 sold · stock 3,637, expected 3,000 · 637 sold twice.',
    '卖出 2,000 件 · 库存 3,637，应为 3,000 · 重复卖出 637 件。',
  ],
  [
    because('page', { text: 'The late write overwrote other sales.', zh: '迟到的写入覆盖了其他销售（丢失更新）。' }),
    'The late write overwrote other sales.',
    '迟到的写入覆盖了其他销售（丢失更新）。',
  ],
  [because('page', { text: 'It fails.' }), 'It fails.', 'It fails.'],
])('reasons: %j', (reason, english, chinese) => {
  expect([reasoned(reason), reasonedInChinese(reason)]).toEqual([english, chinese]);
});

test.each(['scenarios', 'orders'])(
  'reasons: what a page of %s says of a verdict stands there in Chinese, too',
  (kind) => {
    const texts = textsIn(kind);
    const said = texts.flatMap((text) => [...text.matchAll(/^if [\w ]+: .*\n(.*)$/gm)].map(([, below]) => below));
    expect(said.length).toBeGreaterThan(20);
    expect(said.filter((below) => !below?.startsWith('zh: '))).toEqual([]);
  },
);

test('questions: what a drill asks is there in Chinese, and nothing else', () => {
  const names = new Set([...Object.keys(lockStaircase.columns), ...pages.map(({ name }) => name)]);
  expect(Object.keys(questionsInChinese).toSorted()).toEqual([...names].toSorted());
});
