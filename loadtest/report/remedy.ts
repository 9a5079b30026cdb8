// What to do about a result that is unknown.

import { callOf } from '../../stack/call-of.ts';
import type { DrillResult } from '../evidence/results.ts';
import type { Both } from '../narration/language.ts';
import { inLanguage } from '../narration/language.ts';
import type { ReasonForms } from '../narration/reasons.ts';
import { either, sentencesSaid } from '../narration/spoken.ts';
import { lockStaircase } from '../staircase/lock-stages.ts';
import { backendOfRow, isExternal, staircaseOf } from '../staircase/lookup.ts';
import { shortNameOf } from '../staircase/staircase.ts';

const othersSell: Both = [
  'Check that nothing else uses this stack, and that no other proxy stands in between.',
  '请检查有没有别的程序在用这套服务，中间有没有别的代理。',
];
const othersWrite: Both = ['Check that no other run uses the same Redis.', '请检查有没有别的运行在用同一个 Redis。'];
const moreBuyers: Both = ['Raise --requests and --connections.', '请加大 --requests 和 --connections。'];

/** Remedies for the reasons that name a cause. A busy machine is the usual cause of the others. */
const remedies: Partial<Record<keyof ReasonForms, Both>> = {
  'not all sent': othersSell,
  'not all answered': othersSell,
  'not all received': othersSell,
  'not all accounted for': othersSell,
  'stock too low': othersWrite,
  'losses unexplained': othersWrite,
  'nothing sold by': moreBuyers,
  'sales never met': moreBuyers,
};

/** What to do next, as sentences. Empty unless a drill on real servers is unknown. */
export function remedyOf(
  stage: string,
  { drill, verdict, facts }: Pick<DrillResult, 'drill' | 'verdict' | 'facts'>,
): string {
  if (verdict !== 'unknown') return '';
  const known = facts?.says
    .map(({ form }) => remedies[form as keyof ReasonForms])
    .find((remedy) => remedy !== undefined);
  const staircase = staircaseOf(stage);
  if (isExternal(stage))
    return known ? inLanguage(known) : either('Close other programs and try again.', '请关闭其他程序，再试一次。');
  const cell = `--stage ${shortNameOf(stage)} --drill ${drill}`;
  const track = staircase === lockStaircase ? '' : '--track orders ';
  const again = callOf('start', `${track}${cell}`);
  const simulated = callOf('staircase', cell);
  const isSimulated = track === '' && backendOfRow(stage) === 'redis' && drill !== 'long-wait';
  return sentencesSaid([
    ...(known ? [inLanguage(known)] : []),
    either(`Run this drill alone: ${again}.`, `单独运行这个演练：${again}。`),
    isSimulated
      ? either(
          `Or run it in simulated time, on any machine: ${simulated}.`,
          `或用模拟时间运行，与机器快慢无关：${simulated}。`,
        )
      : '',
  ]);
}
