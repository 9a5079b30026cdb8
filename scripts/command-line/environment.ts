// The environment of a run: versions, machine, commit.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, release, type } from 'node:os';
import { join } from 'node:path';
import type { Machine } from '../../loadtest/evidence/results.ts';
import { callOf } from '../../stack/call-of.ts';
import { isInstalled, projectDir } from '../../stack/parts.ts';
import type { CommandName } from './command.ts';

/** Measured before the run puts load on the machine. */
const [loadAtStart = 0] = loadavg();

/** The machine of the run, and its load when this process started. */
export function describeMachine(): Machine {
  const [cpu] = cpus();
  return {
    node: process.version,
    os: `${type()} ${release()} ${arch()}`,
    cpus: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`,
    commit: isInstalled ? version() : commit(),
    load: Math.round(loadAtStart * 10) / 10,
  };
}

/** The command that repeats this run, with those of these settings that are set. */
export function commandLine(command: CommandName, settings: string[] = []): string {
  const args = process.argv.slice(2).join(' ');
  const given = settings.filter((name) => process.env[name]).map((name) => `${name}=${process.env[name]}`);
  return [...given, callOf(command, args)].join(' ');
}

/** An installed package has no commit; the repository around it belongs to somebody else. */
const version = (): string => JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')).version;

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: projectDir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
