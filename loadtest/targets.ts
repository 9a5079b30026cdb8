import type { Backend } from '../locks/index.ts';
import { type Backends, startBackends } from '../scripts/backends.ts';
import { MASTERS } from '../scripts/stack.ts';
import type { Drill } from './drill.ts';
import { openLocalTarget, openRunningTarget, type Target } from './target.ts';

export interface TargetsOptions {
  /** A running stack to aim at, instead of stacks of our own. */
  running?: { url: string; labUrls: string[] } | undefined;
  /** The backends of the strategies to be run. */
  backends?: Backend[];
  /** Told, with a sentence, when a part dies that no drill killed. */
  onDeath: (sentence: string) => void;
}

export type Targets = ReturnType<typeof createTargets>;

/** The stacks of a run, each started when the first drill needs it. */
export function createTargets({ running, backends: needed = [], onDeath }: TargetsOptions) {
  let backends: Promise<Backends> | undefined;
  const opened = new Map<string, Promise<Target>>();

  async function start(kind: Drill['kind']): Promise<Target> {
    const target = running
      ? await openRunningTarget(running.url, running.labUrls)
      : await openLocalTarget(
          {
            forDrills: kind === 'steps',
            // The drills set the lock. The one of the environment may need a server that is not there.
            env: { LOG_LEVEL: process.env['LOG_LEVEL'] || 'warn', LOCK_VERSION: '' },
            masters: needed.includes('masters') ? MASTERS : 0,
            onLine: (name, line) => process.stderr.write(`${name}: ${line}\n`),
          },
          await openBackends(),
        );
    void target.partDied.then(onDeath);
    return target;
  }

  function openBackends() {
    backends ??= startBackends(needed).then((started) => {
      void started.partDied.then(onDeath);
      return started;
    });
    return backends;
  }

  return {
    /** The stack for drills of this kind. Workers that run at the same time have one each. */
    open(kind: Drill['kind'], worker = 0): Promise<Target> {
      const name = running ? 'running' : `${kind} ${worker}`;
      const target = opened.get(name) ?? start(kind);
      opened.set(name, target);
      return target;
    },
    /** Leaves each as it was found, the last one first. */
    async close() {
      for (const target of [...opened.values()].reverse()) await (await target.catch(() => undefined))?.close();
      await (await backends?.catch(() => undefined))?.stop();
    },
  };
}
