// The --help texts of all commands, for the reference and for the tests of the docs.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { projectDir } from '../../stack/parts.ts';

/** The help texts by command file, such as `scripts/grade.ts`, without line breaks inside an option. */
export async function helpsOf(files: string[]): Promise<Record<string, string>> {
  const args = ['--disable-warning=ExperimentalWarning', '--import', 'tsx', 'scripts/command-line/print-help.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, ...files], {
    cwd: projectDir,
    env: { ...process.env, NO_COLOR: '1' },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 120_000,
  });
  return JSON.parse(stdout) as Record<string, string>;
}
