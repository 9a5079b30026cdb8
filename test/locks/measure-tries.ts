import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bundledArgs } from '../../scripts/stack/bundle.ts';

export interface TriesMeasured {
  tries: number;
  /** What one failed try keeps in memory while its waiter waits. */
  bytesPerTry: number;
  /** What one failed try still keeps when the last one has ended. */
  bytesPerTryAfterwards: number;
}

/** Lets waiters of a stage try in vain, in a process of their own, and measures its memory. */
export async function measureTries(stage: string, url: string, key: string): Promise<TriesMeasured> {
  const args = ['--expose-gc', ...(await bundledArgs('test/locks/tries-process.ts')), stage, url, key];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}
