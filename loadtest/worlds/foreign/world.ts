// The foreign world: two copies of any service, known only by their traffic.

import type { Verdict } from '../../evidence/results.ts';
import { type DrillOutcome, type DrillSettings, lostTrack, notApplicable, type World } from '../../harness/drill.ts';
import { formatDuration } from '../../narration/numbers.ts';
import { because, explainedInOne } from '../../narration/reasons.ts';
import { scenario } from '../../scenarios/index.ts';
import { recordExchanges } from './exchanges.ts';
import { HELD_OF_PATIENCE, type Learned, OF_PATIENCE, PATIENCE_LIMIT_MS } from './learned.ts';
import type { ForeignTarget } from './target.ts';

/** The drills that need only the traffic of a service, in the order of the report. */
export const foreignDrills = [
  'one-node-rush',
  'rush',
  'sell-out',
  'crashed-holder',
  'slow-holder',
  'late-write',
  'crossed-write',
  'late-release',
  'long-sale',
  'paused-process',
  'partition',
  'redis-outage',
  'hung-holder',
  'starvation',
  'failover',
];

/** A page that asks for a lease as long as this is played where leases are long: they end when the page says so. */
const LONG_MS = 2_000;
/** How many leases a sale is held inside at least, so that it shows whether it keeps its lock. */
const FEWEST_LEASES = 1.3;
/** How often a drill is played at most with the same lease. */
const TRIES = 2;
/** So many times as long is a lease where the machine is too busy for it: a stall of a quarter of a lease spoils a drill. */
const LENGTHENED = 2;
/** For so many leases a page holds one that hangs. */
const HUNG_LEASES = 3;
/** What proves nothing where the answers to renewals wait behind the one that is held: the watchdog hears nothing, and may give up. */
const provesNothing: Record<string, Verdict> = { 'hung-holder': 'pass', 'slow-holder': 'fail', 'long-sale': 'fail' };

const sharedByAll =
  'All sales of a copy share one connection to Redis: while the reply to one is held, so are the replies to its renewals.';
const noLock = 'No lock was seen in Redis, so no sale waits for one there.';

const notOurs = 'It was not started here, so it can not be paused, held or cut off. Pass the command that starts it.';

/** True for a drill that is played where leases are long: on a busy machine a sale of a load may take longer than a short one. */
export const asksLongLease = (drill: string) => isLoad(drill) || (scenario(drill).timing.leaseMs ?? 0) >= LONG_MS;
export const isLoad = (drill: string) => ['one-node-rush', 'rush', 'sell-out'].includes(drill);

/**
 * The copies have these leases from here on. A page in which one hangs holds it for three leases: no longer than its client waits. One that
 * does not obey has its own; one without an end, or without a lock, is played with what would be its lease.
 */
export async function setLeases({ short, long }: Pick<ForeignWorldOptions, 'short' | 'long'>, learned: Learned) {
  const { lock, obeysLease, patienceMs } = learned;
  const leaseMs = Math.min(short.leaseMs, Math.floor((OF_PATIENCE * patienceMs) / HUNG_LEASES));
  if (hasEnd(learned) && !obeysLease) for (const target of [short, long]) target.leaseMs = lock.leaseMs;
  else if (obeysLease && leaseMs < short.leaseMs) await short.restart(leaseMs);
  else short.leaseMs = leaseMs;
}

/** Lengthens the short leases for a busy machine, once. Resolves with whether that could be done. */
async function lengthenLeases({ short, learned }: Pick<ForeignWorldOptions, 'short' | 'learned'>, usualMs: number) {
  const leaseMs = LENGTHENED * usualMs;
  const isPatient = HUNG_LEASES * leaseMs <= Math.min(PATIENCE_LIMIT_MS, OF_PATIENCE * learned.patienceMs);
  if (!learned.obeysLease || !isPatient || !short.nodes[0].process || short.leaseMs >= leaseMs) return false;
  await short.restart(leaseMs);
  return true;
}

const hasEnd = ({ lock: { leaseMs } }: Learned) => leaseMs > 0 && Number.isFinite(leaseMs);

export interface ForeignWorldOptions {
  /** Where leases are short, and where they are long. */
  short: ForeignTarget;
  long: ForeignTarget;
  learned: Learned;
  settings: DrillSettings;
  /** A lease that is longer is waited for by nobody, in milliseconds. */
  longestWaitMs: number;
  signal: AbortSignal;
  /** The report shows the values of all keys. */
  showsAll: boolean;
}

export function foreignWorld(options: ForeignWorldOptions): World {
  const { short, long, learned, settings, longestWaitMs, signal, showsAll } = options;
  const { lock, patienceMs } = learned;

  /** What comes of a drill that is not played. */
  function whyNotPlayed(drill: string): DrillOutcome | undefined {
    if (short.nodes[0].process === undefined && !isLoad(drill))
      return notApplicable(because('text', { text: notOurs }));
    if (drill === 'starvation' && lock.keys.length === 0 && !learned.isUnreadable)
      return notApplicable(because('text', { text: noLock }));
    // In the others leases end by themselves.
    if (asksLongLease(drill)) return undefined;
    const lease = `Its lease is ${formatDuration(short.leaseMs)}`;
    const unknown = (why: string) => lostTrack(new Error(why));
    if (hasEnd(learned) && short.leaseMs > longestWaitMs)
      return unknown(
        `${lease}, longer than the drills wait. Let it take LEASE_MS from its environment, or pass --patience.`,
      );
    if (drill === 'long-sale' && HELD_OF_PATIENCE * patienceMs < FEWEST_LEASES * short.leaseMs)
      return unknown(
        `${lease}, but its client waits only ${formatDuration(patienceMs)} for a reply, so no sale can be held for longer than a lease.`,
      );
    return undefined;
  }

  function asJudged(drill: string, outcome: DrillOutcome): DrillOutcome {
    const { verdict, nothingToBreak, says } = outcome;
    if (learned.isShared && !learned.row && lock.isRenewed && provesNothing[drill] === verdict)
      return { ...outcome, verdict: 'unknown', ...explainedInOne([because('text', { text: sharedByAll }), ...says]) };
    // What has nothing that a drill could break is no unknown.
    if (verdict !== 'unknown' || !nothingToBreak) return outcome;
    return { ...outcome, verdict: 'not-applicable', ...explainedInOne([because('nothing to break', {}), ...says]) };
  }

  return {
    isVirtual: false,
    isForeign: true,
    async play({ stage, drill }, audience) {
      const why = whyNotPlayed(drill.name);
      if (why !== undefined) return { outcome: why };
      const target = asksLongLease(drill.name) ? long : short;
      const exchanges = isLoad(drill.name)
        ? undefined
        : recordExchanges(target.nodes, target.wire, { showsAll, row: learned.row });
      const attempt = async (): Promise<DrillOutcome> => {
        await target.calm();
        return Promise.race([
          drill.run({
            onProgress() {},
            narrate: async () => {},
            ...audience,
            observe(seen) {
              exchanges?.begin();
              audience.observe?.(seen);
            },
            target: (await audience.watch?.(target)) ?? target,
            stage,
            settings: { ...settings, leaseMs: short.leaseMs },
            signal,
            tries: TRIES,
          }),
          target.partDied.then((died) => Promise.reject(died)),
        ]);
      };
      try {
        let outcome = await attempt();
        const isSpoilt = target === short && outcome.verdict === 'unknown' && outcome.isSpoilt;
        if (isSpoilt && (await lengthenLeases(options, settings.leaseMs))) outcome = await attempt();
        return { outcome: { ...asJudged(drill.name, outcome), ...(exchanges && { wire: exchanges.told() }) } };
      } catch (error) {
        return { outcome: lostTrack(error) };
      } finally {
        exchanges?.close();
      }
    },
  };
}
