// The platform of one process of the simulation, alone.

import { createPlatform } from '../../simulation/platform.ts';
import { createWorld, type Identity } from '../../simulation/world.ts';

export function ownPlatform(name = 'node-1', identity: Identity = {}) {
  const world = createWorld(name, 1);
  world.begin({ type: 'begins', at: 0, chance: 0 });
  const globals = { ...world.globals, process: { pid: 1, hrtime: () => [0, 0] } };
  const platform = createPlatform({ name, world, globals, net: {}, readFile: () => 'text', identity });
  return { world, platform, moduleOf: (module: string) => platform.moduleOf(module) as Record<string, unknown> };
}
