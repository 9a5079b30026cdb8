// Finds what a command has left running: by the folder for temporary files that it was given.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The command lines of all processes that were given `tmp` as TMPDIR, or that work in it: servers overwrite their environment. */
export function processesOf(tmp: string): string[] {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-axEww', '-o', 'pid=,command='], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes(tmp));
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProc(pid, 'environ').includes(`TMPDIR=${tmp}\0`) || folderOf(pid).startsWith(tmp))
    .map((pid) => `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`);
}

function folderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}
