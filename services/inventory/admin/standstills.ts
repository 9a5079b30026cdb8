// When this process came late to its own timers although it had nothing to do: it was stopped, or it got no core.

import { now } from '../sale/history.ts';
import type { Standstill } from './contract.ts';

export const LOOK_MS = 20;
/** What is shorter is no standstill, in milliseconds. */
const LEAST_MS = 20;
const MOST = 100;

function workedMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Watches this process for as long as it lives, and returns what reads its standstills so far, oldest first. */
export function watchStandstills(): () => Standstill[] {
  const standstills: Standstill[] = [];
  let last = { at: now(), workedMs: workedMs() };
  setInterval(() => {
    const look = { at: now(), workedMs: workedMs() };
    const ms = look.at - last.at - LOOK_MS - (look.workedMs - last.workedMs);
    if (ms >= LEAST_MS) standstills.push({ from: last.at, until: look.at, ms });
    if (standstills.length > MOST) standstills.shift();
    last = look;
  }, LOOK_MS).unref();
  return () => standstills;
}
