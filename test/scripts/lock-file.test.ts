import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir } from '../../stack/parts.ts';

interface LockedPackage {
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

describe.each(['package-lock.json', 'loadtest/peers/package-lock.json'])('%s', (file) => {
  const text = readFileSync(join(projectDir, file), 'utf8');
  const packages: Record<string, LockedPackage> = JSON.parse(text).packages;

  // npm leaves out what it could not fetch, and a later `npm ci` then refuses the whole file.
  test('lock file: every platform of every package is in it', () => {
    const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages || `${place}/node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  test('lock file: names no registry, so that it works with any', () => {
    // In the archive for a room without internet it names files of its own.
    const isElsewhere = ({ resolved }: LockedPackage) => resolved !== undefined && !resolved.startsWith('file:');
    expect(Object.entries(packages).filter(([, entry]) => isElsewhere(entry))).toEqual([]);
  });
});
