// What a proof says, in words: never without its scope.

import type { Budget } from '../../prove/scopes.ts';
import { countOf, formatDuration, formatNumber, listOf } from '../evidence/numbers.ts';
import type { Proof, ProofCell } from '../evidence/proof.ts';

type Size = Pick<ProofCell, 'processes' | 'sales'>;

/** `2 processes × 1 sale`. */
export function sizeOf({ processes, sales }: Size): string {
  return `${countOf(processes, 'process', 'processes')} × ${countOf(sales, 'sale')}`;
}

const FAULTS: Record<keyof Budget, [one: string, many: string]> = {
  pauses: ['pause of a holder', 'pauses of holders'],
  delays: ['command held up', 'commands held up'],
  crashes: ['holder killed', 'holders killed'],
  hangUps: ['client that hangs up', 'clients that hang up'],
  failovers: ['failover', 'failovers'],
  freezes: ['master that stands still', 'masters that stand still'],
  lateVotes: ['vote held up', 'votes held up'],
  restarts: ['master that forgets', 'masters that forget'],
  clockJumps: ['jump of a clock', 'jumps of a clock'],
};

/** `at most 1 pause of a holder`; `no fault`. */
export function budgetOf({ budget }: Pick<ProofCell, 'budget'>): string {
  const faults = Object.entries(budget).filter(([, times]) => times > 0);
  if (faults.length === 0) return 'no fault';
  const words = faults.map(([fault, times]) => {
    const [one, many] = FAULTS[fault as keyof Budget] ?? [fault, fault];
    return countOf(times, one, many);
  });
  return `at most ${listOf(words)}`;
}

/** A number of orders: exact up to 2^53, and its magnitude beyond. */
export function formatOrders(orders: number): string {
  if (orders <= Number.MAX_SAFE_INTEGER) return formatNumber(orders);
  const power = Math.floor(Math.log10(orders));
  const digits = [...String(power)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return `about ${(orders / 10 ** power).toFixed(1)} × 10${digits}`;
}

/** What one cell says, in sentences. */
export function claimOf(cell: ProofCell, server: string): string[] {
  const { verdict, reason, states, schedules, cut, masters, isSplit } = cell;
  const what = isSplit ? 'commands and the replies' : 'commands';
  const where = masters > 0 ? `${server} and ${countOf(masters, 'master')}` : server;
  const scope = `the ${what} of ${sizeOf(cell)} reach a real ${where}, with ${budgetOf(cell)}`;
  const seen = `${countOf(states, 'state')}, ${formatDuration(cell.ms)}`;
  if (verdict === 'holds') {
    const orders = `${formatOrders(schedules)} ${schedules === 1 ? 'order' : 'orders'}`;
    return [`It holds in all orders in which ${scope}: ${orders}, none cut; ${seen}.`];
  }
  if (verdict === 'fails') {
    return [reason, `Found among the orders in which ${scope}: ${seen}. No shorter order of events breaks it.`];
  }
  // The reason may tell it already.
  const isTold = cut === 0 || reason.includes('branches');
  const open = isTold ? [] : [`${countOf(cut, 'branch was', 'branches were')} not followed to the end.`];
  return [reason, ...open, `Nothing may be concluded of the orders in which ${scope}: ${seen}.`];
}

/** How often the counterexample was replayed, and where. */
export function replaysOf({ replayed, onRedis }: ProofCell): string[] {
  return [
    ...(replayed ? [`Replayed ${times(replayed)} on fresh processes and a second Valkey: the same each time.`] : []),
    ...(onRedis
      ? [
          `Replayed ${times(onRedis.times)} on ${onRedis.server}, over sockets: ${onRedis.sameEachTime ? 'the same each time' : 'not the same each time'}.`,
        ]
      : []),
  ];
}

const times = (count: number) => (count === 1 ? 'once' : `${formatNumber(count)} times`);

/** What was proved, in a few sentences: what holds, what fails, and what is not known. */
export function summarizeProof({ cells, server }: Proof): string[] {
  if (cells.length === 0) return ['Nothing was looked at.'];
  const [held, failed, open] = (['holds', 'fails', 'unknown'] as const).map((verdict) =>
    cells.filter((cell) => cell.verdict === verdict),
  ) as [ProofCell[], ProofCell[], ProofCell[]];
  return [
    ...(held.length > 0
      ? [
          `${countOf(held.length, 'cell holds', 'cells hold')}: in all orders in which the commands of ${sizesOf(held)} reach a real ${server}, with the faults that the scope allows, nothing is violated. None was cut.`,
        ]
      : []),
    ...(failed.length > 0
      ? [
          `${countOf(failed.length, 'cell fails', 'cells fail')}, each with the shortest order of events that breaks it.`,
        ]
      : []),
    ...(open.length > 0 ? [`${countOf(open.length, 'cell is', 'cells are')} unknown: nothing may be concluded.`] : []),
  ];
}

function sizesOf(cells: ProofCell[]): string {
  return [...new Set(cells.map(sizeOf))].join(' or ');
}
