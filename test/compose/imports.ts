import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';

/** Everything that a file needs at run time, followed through all that it imports. */
export interface Needs {
  /** Paths from the project's root. */
  files: Set<string>;
  packages: Set<string>;
}

/** Follows the imports of `file` (a path from the project's root). Imports of types alone don't count. */
export function needsOf(file: string, needs: Needs = { files: new Set(), packages: new Set() }): Needs {
  if (needs.files.has(file)) return needs;
  needs.files.add(file);
  for (const specifier of importsIn(readFileSync(join(projectDir, file), 'utf8'))) {
    if (specifier.startsWith('.')) needsOf(normalize(join(dirname(file), specifier)), needs);
    else if (!specifier.startsWith('node:') && !builtinModules.includes(specifier)) {
      needs.packages.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
    }
  }
  return needs;
}

function importsIn(source: string): string[] {
  const statements = source.matchAll(/^\s*(?:import|export)\s+(?!type\s)(?:[\w*{}\s,$]+?\sfrom\s+)?'([^']+)'/gm);
  const calls = source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  return [...statements, ...calls].map(([, specifier]) => specifier ?? '');
}
