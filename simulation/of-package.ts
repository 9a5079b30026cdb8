// Whether a file is one of a package, or of the lab and its user.

import { fileURLToPath } from 'node:url';

const lab = fileURLToPath(new URL('..', import.meta.url));

/** Whether a file, by its absolute path, is one of a package that somebody else wrote. The lab may be installed as a package itself. */
export function isOfPackage(file: string): boolean {
  const path = file.startsWith(lab) ? file.slice(lab.length) : file;
  return /(^|[/\\])node_modules[/\\](?!\.cache[/\\])/.test(path);
}
