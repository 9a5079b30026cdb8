import type { PlayEvent } from '../../../loadtest/evidence/playing.ts';
import { type Drill, runCell } from '../../../loadtest/harness/drill.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { realWorld } from '../../../loadtest/worlds/real/world.ts';
import { playDrill, usualSettings } from '../../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../../loadtest/worlds/simulated/playing.ts';
import { lockKey } from '../../../services/inventory/servers/store.ts';
import type { Lab } from '../../../simulation/lab.ts';
import { beatsOf } from '../../../workshop/picture/beats.ts';
import { placeOf } from '../../../workshop/server/player.ts';
import { startRecording } from '../../../workshop/server/recording.ts';

/** Longer than a step takes on a machine that is busy. */
const settings = { ...usualSettings, leaseMs: 3_000 };

export async function onRealServers(target: Target, stage: string, drill: Drill): Promise<PlayEvent[]> {
  const recording = startRecording({ stage, drill, onChange() {} });
  const targets = { open: async () => target, discard: async () => {} };
  const world = realWorld({ targets, settings, signal: new AbortController().signal });
  try {
    return recording.events(await runCell({ stage, drill }, world, recording.audience));
  } finally {
    await recording.close();
  }
}

export async function inSimulation(stage: string, drill: Drill): Promise<PlayEvent[]> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    opened.watchRedis(lockKey('001', stage));
    lab = opened;
  };
  await playDrill(drill, stage, { settings, disturb });
  return lab ? playingIn(lab) : [];
}

/** What each sale and each node did, and what broke by it. How often a sale tries in vain is for the machine to decide. */
export function deedsOf(events: PlayEvent[], stage: string): Record<string, string[]> {
  const deeds: Record<string, string[]> = {};
  /** A sale without a letter has a number, which goes by what its node has sold before. */
  const numbered: string[] = [];
  for (const { kind, sale, node, command, is, breaks } of beatsOf(events, placeOf(stage)).beats) {
    if (['come', 'told', 'end'].includes(kind) || command?.act === 'denied') continue;
    if (/^\d/.test(sale) && !numbered.includes(sale)) numbered.push(sale);
    const name = numbered.includes(sale) ? `buyer ${numbered.indexOf(sale) + 1}` : sale || node;
    deeds[name] ??= [];
    deeds[name].push([kind, command?.act ?? is ?? '', ...breaks].join(' '));
  }
  return deeds;
}
