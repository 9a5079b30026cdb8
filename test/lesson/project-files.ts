import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';

const NOT_OURS = ['node_modules', 'dist', '.git', 'reports', 'coverage', 'mine'];

export function readText(file: string): string {
  return readFileSync(join(projectDir, file), 'utf8');
}

export function exists(file: string): boolean {
  return existsSync(join(projectDir, file));
}

/** The names in a folder of the project, in order; none when the folder does not exist. */
export function list(folder: string): string[] {
  return exists(folder) ? readdirSync(join(projectDir, folder)).toSorted() : [];
}

/** Every file of ours in a folder of the project and the folders below it, as paths from the project's root. */
export function listDeep(folder = ''): string[] {
  if (!exists(folder)) return [];
  const entries = readdirSync(join(projectDir, folder), { withFileTypes: true });
  return entries
    .filter((entry) => !NOT_OURS.includes(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listDeep(path) : path;
    });
}

/** `4-ttl` for each stage file, in the order of the course. */
export const stages = list('locks')
  .filter((file) => /^\d+-.*\.ts$/.test(file))
  .map((file) => file.replace('.ts', ''));
