// Detects pauses of this process: its timers fired late although it had nothing to do, so it was stopped or got no CPU.

import { now } from '../sale/history.ts';
import type { Standstill } from './contract.ts';

export const LOOK_MS = 20;
/** The shortest delay that counts as a pause, in milliseconds. */
const LEAST_MS = 20;
const MOST = 100;

function workedMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Watches this process as long as it lives. Returns a function that reads its pauses so far, oldest first. */
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
