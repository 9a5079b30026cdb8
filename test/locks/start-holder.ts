import { EventEmitter, once } from 'node:events';
import { onTestFinished } from 'vitest';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { startPart } from '../../scripts/stack/parts.ts';

export interface HolderOptions {
  stage: string;
  url: string;
  key: string;
  leaseMs?: number;
}

/** Starts another process that takes the lock, and resolves when it is inside. It is gone when the test has ended. */
export async function startHolder({ stage, url, key, leaseMs = 30_000 }: HolderOptions) {
  const said: string[] = [];
  const listener = new EventEmitter();

  const part = await startPart({
    name: `holder of ${stage}`,
    command: process.execPath,
    args: [...(await bundledArgs('test/locks/holder-process.ts')), stage, url, key, String(leaseMs)],
    isReady: async () => said.includes('entered'),
    onLine(line) {
      said.push(line);
      listener.emit('line');
    },
  });

  async function kill() {
    part.signal('SIGKILL');
    await part.ended;
  }

  onTestFinished(kill);
  return {
    /** The lines that the process has printed. */
    said,
    /** Resolves when it prints `line`. */
    async untilSaid(line: string) {
      while (!said.includes(line)) await once(listener, 'line');
    },
    /** Lets it leave its critical section. */
    resume: () => process.kill(part.pid, 'SIGUSR2'),
    pause: () => part.signal('SIGSTOP'),
    wake: () => part.signal('SIGCONT'),
    /** Kills it on the spot and resolves when it is gone. */
    kill,
  };
}
