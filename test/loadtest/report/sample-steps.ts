import type { DrillResult, StepFigures, Timeline } from '../../../loadtest/evidence/results.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';

type Lane = Timeline['lanes'][number];

/** The drills whose timelines are drawn here. */
export const stepDrillNames = ['crashed-holder', 'slow-holder', 'paused-process'];

/** What such a drill gives under a stage. What is not taught holds. */
export function stepResult(stage: number, drill: string): DrillResult {
  const name = Object.keys(locks)[stage] ?? '';
  const taught = taughtVerdict(name, drill);
  const common = { drill, taught, witnesses: [], witnessCount: 0, durationMs: 3_120 };
  if (hasNothingToBreak(name, drill)) {
    return { ...common, verdict: 'not-applicable', reasons: ['This stage has nothing that the drill could break.'] };
  }
  const isFail = taught === 'fail';
  const timeline = timelines[drill]?.(stage);
  return {
    ...common,
    verdict: isFail ? 'fail' : 'pass',
    reasons: [isFail ? 'It went wrong, as the timeline shows.' : 'It went well.'],
    figures: figuresOf(drill, isFail),
    ...(timeline && { timeline }),
  };
}

function figuresOf(drill: string, isFail: boolean): StepFigures {
  if (drill === 'crashed-holder') return isFail ? { keptOutMs: 2_000 } : { takeoverMs: 1_003 };
  if (drill === 'slow-holder') return { overlaps: isFail ? 2 : 0 };
  return { expectedStock: 96, finalStock: isFail ? 99 : 96, lostUpdates: isFail ? 3 : 0 };
}

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

const timelines: Record<string, (stage: number) => Timeline> = {
  /** Up to stage 3 nobody gives the dead holder's key up. */
  'crashed-holder'(stage) {
    const isFreed = stage > 3;
    const durationMs = isFreed ? 1_045 : 2_090;
    const { wrote: _wrote, endedMs: _ended, ...dead } = lane('node-1', '0001', 20, 22, 68);
    const inVain = { node: 'node-2', saleId: '0001', askedMs: 70, endedMs: 2_072, leases: [] };
    return {
      durationMs,
      lanes: [
        { ...dead, leases: [{ fromMs: 22, untilMs: isFreed ? 1_022 : durationMs }] },
        isFreed ? lane('node-2', '0001', 70, 1_024, 1_030) : inVain,
      ],
      moreLanes: 0,
      faults: [{ label: 'SIGKILL', fromMs: 68, node: 'node-1' }],
      overlaps: [],
    };
  },

  /** Under stage 4 the slow holder's release deletes the key of another, and two of the others meet. */
  'slow-holder'(stage) {
    const isBroken = stage === 4;
    return {
      durationMs: 3_500,
      lanes: [
        { ...lane('node-1', '0001', 28, 30, 2_560), leases: [{ fromMs: 30, untilMs: 1_030 }] },
        lane('node-2', '0002', 60, 2_050, 2_385, 98),
        lane('node-1', '0002', 63, 2_390, 2_725, 97),
        lane('node-2', '0003', 66, isBroken ? 2_585 : 2_732, 3_070, 96),
      ],
      moreLanes: 4,
      faults: [
        { label: 'stalls', fromMs: 40, untilMs: 2_540, node: 'node-1' },
        { label: 'another entered', fromMs: 2_558 },
      ],
      overlaps: isBroken ? [{ fromMs: 2_585, untilMs: 2_725, lanes: [2, 3] }] : [],
    };
  },

  /** From stage 4 on the lease ends while the process is stopped; another sells, and the late write undoes its sale. */
  'paused-process'(stage) {
    const isLate = stage > 3;
    const enteredMs = isLate ? 1_123 : 2_594;
    const first = lane('node-1', '0001', 20, 22, 2_590);
    return {
      durationMs: 2_640,
      lanes: [
        { ...first, leases: [{ fromMs: 22, untilMs: isLate ? 1_120 : 2_590 }] },
        lane('node-2', '0001', 62, enteredMs, enteredMs + 5),
      ],
      moreLanes: 0,
      faults: [{ label: 'SIGSTOP', fromMs: 44, untilMs: 2_546, node: 'node-1' }],
      overlaps: isLate ? [{ fromMs: enteredMs, untilMs: enteredMs + 5, lanes: [0, 1] }] : [],
    };
  },
};
