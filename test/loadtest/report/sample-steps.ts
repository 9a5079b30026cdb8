import type { DrillResult, StepFigures, Timeline } from '../../../loadtest/evidence/results.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';

type Lane = Timeline['lanes'][number];

/** Of each group of the staircase a drill, and the two others whose timelines are drawn. */
export const stepDrillNames = ['long-wait', 'crashed-holder', 'slow-holder', 'paused-process', 'redis-outage'];

/** What such a drill gives under a stage. Three of them have a timeline. What is not taught holds. */
export function stepResult(stage: number, drill: string): DrillResult {
  const name = Object.keys(locks)[stage] ?? '';
  const taught = taughtVerdict(name, drill);
  const common = { drill, taught, witnesses: [], witnessCount: 0, stockOverTime: [], durationMs: 3_120 };
  if (hasNothingToBreak(name, drill)) {
    return { ...common, verdict: 'not-applicable', reasons: ['This stage has nothing that the drill could break.'] };
  }
  const isFail = taught === 'fail';
  const timeline = timelines[drill]?.(stage);
  const witnesses = isFail && drill === 'paused-process' ? ['sale 0001 on node-1 undid 2 sales'] : [];
  return {
    ...common,
    verdict: isFail ? 'fail' : 'pass',
    reasons: [isFail ? 'It went wrong, as the timeline shows.' : 'It went well.'],
    figures: figuresOf(drill, isFail),
    witnesses,
    witnessCount: witnesses.length,
    ...(timeline && { timeline }),
  };
}

function figuresOf(drill: string, isFail: boolean): StepFigures {
  const figures: Record<string, StepFigures> = {
    'long-wait': { bytesPerTry: isFail ? 771.4 : 1.2, tries: 15_012 },
    'crashed-holder': isFail ? { keptOutMs: 2_000 } : { takeoverMs: 1_003 },
    'slow-holder': { overlaps: isFail ? 2 : 0, enteredMeanwhile: 4 },
    'paused-process': {
      expectedStock: 96,
      finalStock: isFail ? 99 : 96,
      lostUpdates: isFail ? 3 : 0,
      overlaps: isFail ? 3 : 0,
    },
    'redis-outage': { sent: 400, sold: 311, refused: 89, inDoubt: 2, slowestMs: 1_020, lostUpdates: 0, backMs: 214 },
  };
  return figures[drill] ?? {};
}

const timelines: Record<string, (stage: number) => Timeline> = {
  'crashed-holder': crash,
  'slow-holder': stall,
  'paused-process': pause,
};

/** A lane that reads on entering and writes before it leaves. */
export function lane(
  node: string,
  saleId: string,
  askedMs: number,
  fromMs: number,
  untilMs: number,
  stock = 100,
): Lane {
  return {
    node,
    saleId,
    askedMs,
    inside: { fromMs, untilMs },
    read: { ms: fromMs + 1, stock },
    wrote: { ms: untilMs - 1, stock: stock - 1 },
    endedMs: untilMs + 1,
    leases: [{ fromMs, untilMs }],
  };
}

/** Stages 2 and 3 never give the dead holder's key up; stages 0 and 1 have none. */
function crash(stage: number): Timeline {
  const hasKey = stage > 1;
  const isFreed = stage > 3;
  const durationMs = isFreed ? 1_045 : hasKey ? 2_090 : 90;
  const { wrote: _wrote, endedMs: _ended, ...dead } = lane('node-1', '0001', 20, 22, 68);
  const waiter = lane('node-2', '0001', 70, isFreed ? 1_024 : 71, isFreed ? 1_030 : 77);
  const { inside: _inside, read: _read, wrote: _written, ...waitsInVain } = waiter;
  return {
    durationMs,
    lanes: [
      { ...dead, leases: hasKey ? [{ fromMs: 22, untilMs: isFreed ? 1_022 : durationMs }] : [] },
      hasKey && !isFreed
        ? { ...waitsInVain, endedMs: 2_072, leases: [] }
        : { ...waiter, leases: hasKey ? waiter.leases : [] },
    ],
    moreLanes: 0,
    faults: [{ label: 'SIGKILL', fromMs: 68, node: 'node-1' }],
    overlaps: [],
  };
}

/** Under stage 4 the slow holder's release deletes the key of another, and two of the others meet. */
function stall(stage: number): Timeline {
  const isBroken = stage === 4;
  const starts = isBroken
    ? [1_035, 1_375, 1_712, 2_050, 2_390, 2_585, 2_780]
    : [1_035, 1_375, 1_712, 2_050, 2_390, 2_732, 3_070];
  const sellers = starts.map((from, i) =>
    lane(
      i % 2 ? 'node-1' : 'node-2',
      String(Math.floor(i / 2) + 2).padStart(4, '0'),
      60 + i * 3,
      from,
      from + 335,
      100 - i,
    ),
  );
  const slow = { ...lane('node-1', '0001', 28, 30, 2_560), leases: [{ fromMs: 30, untilMs: 1_030 }] };
  return {
    durationMs: 3_500,
    lanes: [slow, ...sellers],
    moreLanes: 4,
    faults: [
      { label: 'stalls', fromMs: 40, untilMs: 2_540, node: 'node-1' },
      { label: 'another entered', fromMs: 2_558 },
    ],
    overlaps: isBroken
      ? [
          { fromMs: 2_585, untilMs: 2_725, lanes: [5, 6] },
          { fromMs: 2_780, untilMs: 2_920, lanes: [6, 7] },
        ]
      : [],
  };
}

/** The lease ends while the process is stopped; others sell, and the late write undoes their sales. */
function pause(stage: number): Timeline {
  const isLate = stage > 3;
  const first = {
    ...lane('node-1', '0001', 20, 22, 2_590),
    leases: stage > 1 ? [{ fromMs: 22, untilMs: isLate ? 1_120 : 2_591 }] : [],
  };
  const enteredAt = isLate ? [1_123, 1_134, 1_146] : [2_594, 2_600, 2_606];
  const others = enteredAt.map((from, i) =>
    lane('node-2', `000${i + 1}`, i === 0 ? 62 : from - 4, from, from + 5, 100 - i),
  );
  return {
    durationMs: 2_640,
    lanes: [first, ...others],
    moreLanes: 0,
    faults: [{ label: 'SIGSTOP', fromMs: 44, untilMs: 2_546, node: 'node-1' }],
    overlaps: isLate ? enteredAt.map((fromMs, i) => ({ fromMs, untilMs: fromMs + 5, lanes: [0, i + 1] })) : [],
  };
}
