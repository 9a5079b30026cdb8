#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --enable-source-maps
// lockstep COMMAND: runs scripts/COMMAND.ts, as `npm run COMMAND` does. It runs a cached bundle and rebuilds it when a source has
// changed. Plain JavaScript: Node does not strip types inside node_modules.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isUpToDate, keptFile, projectDir } from '../stack/kept-bundle.mjs';

const fileOf = (command) => `scripts/${command}.ts`;
const all = Object.entries(JSON.parse(readFileSync(new URL('commands.json', import.meta.url), 'utf8')));
// Of some the files are in the clone alone.
const commands = new Map(all.filter(([command]) => existsSync(join(projectDir, fileOf(command)))));

const [, , ...given] = process.argv;
const [first = ''] = given;
if (commands.has(first)) await run(first, given.slice(1));
else if (/^(-h|--help|help)$/.test(first)) process.stdout.write(help());
// Without a command its options are those of start.
else if (first === '' || first.startsWith('-')) await run('start', given);
else {
  process.stderr.write(`error: there is no command ${first}. The commands are ${[...commands.keys()].join(', ')}\n`);
  process.exitCode = 2;
}

async function run(command, args) {
  const bundle = keptFile(fileOf(command));
  if (!isUpToDate(bundle)) await makeBundle(fileOf(command));
  process.argv = [process.execPath, bundle, ...args];
  await import(pathToFileURL(bundle).href);
}

async function makeBundle(file) {
  const { register } = await import('tsx/esm/api');
  const unregister = register();
  const { bundledArgs } = await import('../stack/bundle.ts');
  await bundledArgs(file).catch((error) => {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
    process.stderr.write(`error: ${error.path} can't be written: the user who runs the package must own it\n`);
    process.exit(2);
  });
  await unregister();
}

function help() {
  const width = Math.max(...[...commands.keys()].map(({ length }) => length));
  const lines = [...commands].map(([command, does]) => `  ${command.padEnd(width)}  ${does}`);
  return `Usage: lockstep [command] [options]\n\n${lines.join('\n')}\n\nWithout a command, lockstep runs start. lockstep COMMAND --help prints the options of a command.\n`;
}
