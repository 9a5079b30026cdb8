// What a run was made with: versions, machine, commit.

import { execFileSync } from 'node:child_process';
import { arch, cpus, release, type } from 'node:os';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Results } from '../evidence/results.ts';
import type { Target } from '../harness/target.ts';

/** What the run was made with: without it no figure can be compared. */
export function describeEnvironment({
  redis,
  nginx,
  backends,
}: Pick<Target, 'redis' | 'nginx' | 'backends'>): Results['environment'] {
  const [cpu] = cpus();
  return {
    node: process.version,
    os: `${type()} ${release()} ${arch()}`,
    cpus: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`,
    redis,
    nginx,
    backends,
    commit: commit(),
  };
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: projectDir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
