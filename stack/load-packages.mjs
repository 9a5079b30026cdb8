// Loads the packages of a bundle with V8's code cache: compiling them takes most of the start.
// Plain JavaScript: every bundle loads it as it is.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';

/** Returns the exports of this file: a function for each package, which returns the package. */
export function loadPackages(file) {
  // V8 takes it from the same version, flags and processor alone.
  const compiledFile = `${file}.${cachedDataVersionTag()}`;
  const cachedData = readIfThere(compiledFile);
  const script = new Script(readFileSync(file, 'utf8'), {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module);
  // Later, when what the packages do at their start has been compiled, too.
  if (cachedData === undefined || script.cachedDataRejected) setImmediate(keep, script, compiledFile);
  return module.exports;
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function keep(script, file) {
  try {
    // Another process may be about to read it.
    writeFileSync(`${file}.${process.pid}`, script.createCachedData());
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // It is compiled anew next time.
  }
}
