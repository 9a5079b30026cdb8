// A counterexample as it is drawn: a step of it for each unit of the axis, because most of them happen in the same millisecond.

import { LOCK_KEY } from '../../prove/sale.ts';
import { type Scope, scopes, stockCommand } from '../../prove/scopes.ts';
import { openServer, type Server, type ServerState } from '../../prove/server.ts';
import { nameOf, STOCK } from '../../prove/state.ts';
import { overlapsBetween } from '../evidence/overlaps.ts';
import type { ProofCell, ProofStep } from '../evidence/proof.ts';
import type { Timeline } from '../evidence/results.ts';
import { type Axis, type Mark, roundMarks } from '../report/timeline.ts';

type Lane = Timeline['lanes'][number];
type Fault = Timeline['faults'][number];
/** Who has the lock's key after a step: a place in the lanes. */
type HolderAfter = (number | undefined)[];

/**
 * The counterexample of a cell, with step n at n. Whose the lock's key is comes from a Valkey that is given the commands of the
 * steps; where several masters vote, or there are several buckets, there is no one key, and no lease is drawn.
 */
export async function timelineOf({
  counterexample = [],
  scope,
  sales,
  masters,
  isInBuckets = false,
  isSplit,
}: ProofCell): Promise<Timeline> {
  const end = counterexample.length + 1;
  const lanes = lanesOf(counterexample, sales, end);
  if (masters === 0 && !isInBuckets) {
    const searched = scopes.find(({ name }) => name === scope) ?? {};
    const holders = await holdersAfter(counterexample, lanes, searched);
    for (const [index, lane] of lanes.entries()) lane.leases = spansOf(holders, index, end);
  }
  return {
    durationMs: end,
    lanes,
    moreLanes: 0,
    faults: faultsOf(counterexample, isSplit),
    overlaps: overlapsOf(lanes),
  };
}

/** A lane for each sale that has asked for the lock. */
function lanesOf(steps: ProofStep[], sales: number, end: number): Lane[] {
  const lanes: Lane[] = [];
  const ask = (node: string, sale: number, step: number) =>
    lanes.push({ node, saleId: String(sale), askedMs: step, leases: [] });
  /** The sale that a process is at. */
  const laneOf = (node: string) => lanes.findLast((lane) => lane.node === node);

  for (const [index, { process, kind, told }] of steps.entries()) {
    const step = index + 1;
    if (kind === 'begins') ask(process, 1, step);
    if (kind === 'crash') endLane(laneOf(process), step);
    for (const { step: what, sale, stock } of told) {
      const lane = laneOf(process);
      if (lane === undefined) continue;
      if (what === 'entered') lane.inside = { fromMs: step, untilMs: end };
      if (what === 'read' && stock !== undefined) lane.read ??= { ms: step, stock };
      if (what === 'wrote' && stock !== undefined) lane.wrote ??= { ms: step, stock };
      if (what === 'left' && lane.inside) lane.inside.untilMs = step;
      if (what !== 'released' && what !== 'failed') continue;
      endLane(lane, step);
      // The next one begins at once.
      if (sale < sales) ask(process, sale + 1, step);
    }
  }
  return lanes;
}

function endLane(lane: Lane | undefined, step: number) {
  if (lane === undefined || lane.endedMs !== undefined) return;
  lane.endedMs = step;
  if (lane.inside) lane.inside.untilMs = Math.min(lane.inside.untilMs, step);
}

/** The lanes whose sales were inside at the same time, two and two. */
function overlapsOf(lanes: Lane[]): Timeline['overlaps'] {
  const holds = lanes.flatMap(({ node, saleId, inside }, lane) =>
    inside ? [{ node, saleId, entered: inside.fromMs, left: inside.untilMs, lane }] : [],
  );
  const placeOf = (hold: object) => holds.find((each) => each === hold)?.lane ?? 0;
  return overlapsBetween(holds).map(({ first, second, from, until }) => ({
    fromMs: from,
    untilMs: until,
    lanes: [placeOf(first), placeOf(second)],
  }));
}

/** Gives the commands of the steps to a Valkey, at the times of the steps, and looks whose the key is after each. */
async function holdersAfter(steps: ProofStep[], lanes: Lane[], scope: Partial<Scope>): Promise<HolderAfter> {
  const server = await openServer();
  const empty = scope.isCold ? server.cold : server.empty;
  let state: ServerState = server.execute(empty, 0, 0, stockCommand(scope, STOCK)).after;
  /** What a replica holds that has not heard of the last command that changed something. */
  let late = state;
  let holder: number | undefined;
  return steps.map(({ at, process, kind, sent }, index) => {
    if (kind === 'failover') state = late;
    const endedAt = endOf(server, state);
    if (sent) {
      const { after } = server.execute(state, at, process.charCodeAt(0) - nameOf(0).charCodeAt(0), sent.command);
      if (after !== state) late = state;
      state = after;
    }
    const endsAt = endOf(server, state);
    // Who makes the key live longer has it, unless its value names another.
    if (sent && endsAt > Math.max(endedAt, at - 1)) holder = saleAt(lanes, process, index + 1);
    if (endsAt < at) holder = undefined;
    else if (sent || kind === 'failover') holder = namedBy(lockValue(server, state, at), lanes) ?? holder;
    return holder;
  });
}

/** The last millisecond in which the lock's key is there; before all time when it is not. */
const endOf = (server: Server, state: ServerState) => server.ends(state).get(LOCK_KEY) ?? Number.NEGATIVE_INFINITY;

/** The value of the lock's key, or the first field of a hash: the owner token, in a lock that has one. */
function lockValue(server: Server, state: ServerState, at: number): string {
  const ask = (...command: string[]) => server.execute(state, at, 0, command).reply;
  const reply = ask('TYPE', LOCK_KEY) === 'hash' ? ask('HKEYS', LOCK_KEY) : ask('GET', LOCK_KEY);
  return Array.isArray(reply) ? String(reply[0]) : String(reply);
}

/** The lane that an owner token such as `A:1` names. */
function namedBy(token: string, lanes: Lane[]): number | undefined {
  const lane = lanes.findIndex(({ node, saleId }) => token === `${node}:${saleId}`);
  return lane < 0 ? undefined : lane;
}

/** The sale that a process is at. */
function saleAt(lanes: Lane[], node: string, step: number): number | undefined {
  const lane = lanes.findLastIndex((each) => each.node === node && each.askedMs <= step);
  return lane < 0 ? undefined : lane;
}

function spansOf(holders: HolderAfter, lane: number, end: number): Lane['leases'] {
  const spans: Lane['leases'] = [];
  for (const [index, holder] of holders.entries()) {
    const step = index + 1;
    if (holder !== lane) continue;
    const last = spans.at(-1);
    const untilMs = Math.min(step + 1, end);
    if (last?.untilMs === step) last.untilMs = untilMs;
    else spans.push({ fromMs: step, untilMs });
  }
  return spans;
}

const MOMENTS: Partial<Record<ProofStep['kind'], string>> = {
  crash: 'killed',
  'hang up': 'its client hangs up',
  failover: 'failover',
  'restart empty': 'master 1 starts again, empty',
  'clock jump': "master 1's clock jumps",
};

/** What the search did to break it. */
function faultsOf(steps: ProofStep[], isSplit: boolean): Fault[] {
  return steps.flatMap(({ process, kind, sent, input }, index): Fault[] => {
    const step = index + 1;
    const until = (isEnd: (step: ProofStep) => boolean) => {
      const found = steps.findIndex((each, at) => at > index && each.process === process && isEnd(each));
      return found < 0 ? steps.length + 1 : found + 1;
    };
    const moment = MOMENTS[kind];
    const node = kind === 'failover' || process.length > 1 ? {} : { node: process };
    if (moment) return [{ label: moment, fromMs: step, ...node }];
    if (kind === 'freeze') return [{ label: 'master 1 stands still', fromMs: step, untilMs: steps.length + 1 }];
    if (kind === 'pause')
      return [{ label: 'paused', fromMs: step, untilMs: until((each) => each.kind === 'wake'), ...node }];
    if (kind === 'hold up') {
      const untilMs = until((each) => each.kind === 'let go');
      return [{ label: 'a command is held up', fromMs: step, untilMs, ...node }];
    }
    // A command without its reply, though both are one step.
    if (sent && !input && !isSplit) {
      const untilMs = until((each) => each.kind === 'reply');
      return [{ label: 'a reply is held up', fromMs: step, untilMs, ...node }];
    }
    return [];
  });
}

/** Counts the steps; under them stand the milliseconds at which the clock goes on. */
export function axisOf({ counterexample = [] }: ProofCell): Axis {
  const clock: Mark[] = counterexample.flatMap(({ kind, at }, index) =>
    kind === 'clock' ? [{ ms: index + 1, label: `${at} ms` }] : [],
  );
  return {
    nameLength: (length) => `${length - 1} steps`,
    nameMoment: (step) => (step > counterexample.length ? 'the end' : `step ${step}`),
    rowsOfMarks(end, most) {
      const steps = roundMarks(end, most)
        .filter((step) => Number.isInteger(step) && step > 0 && step < end)
        .map((step) => ({ ms: step, label: String(step) }));
      return [steps, apart([{ ms: 0, label: '0 ms' }, ...clock], end / most)];
    },
  };
}

/** The first mark, and of the others as many as stand apart, the last ones first: there it is decided. */
function apart([first, ...others]: Mark[], least: number): Mark[] {
  const kept = first ? [first] : [];
  for (const mark of others.reverse()) {
    if (kept.every(({ ms }) => Math.abs(ms - mark.ms) >= least)) kept.push(mark);
  }
  return kept.sort((one, other) => one.ms - other.ms);
}
