// Prints the --help text of each command, as JSON: one process for all, so that shared modules load once.
// node --import tsx scripts/command-line/print-help.ts FILE …, each a command with a --help.

import { resolve } from 'node:path';

/** Thrown instead of exiting after a help text, so that nothing after it runs. */
class Ended extends Error {}

// No option is broken into lines, as on a very wide terminal.
Object.assign(process.stdout, { isTTY: true, columns: 10_000 });
const write = process.stdout.write.bind(process.stdout);
const exit = process.exit.bind(process);
let printed = '';
process.stdout.write = ((text: string) => {
  printed += text;
  return true;
}) as typeof process.stdout.write;
process.exit = (() => {
  throw new Ended();
}) as typeof process.exit;

const helps: Record<string, string> = {};
for (const file of process.argv.slice(2)) {
  helps[file] = await helpOf(file);
  const [, listed = ''] = helps[file].split('\nCommands:\n');
  for (const [, below = 'help'] of listed.matchAll(/^ {2}([a-z][\w-]*)/gm)) {
    if (below !== 'help') helps[file] += await helpOf(file, below);
  }
}
write(JSON.stringify(helps));
exit(0);

/** Runs the module as if called with `--help`. Each call re-evaluates the command's own module. */
async function helpOf(file: string, ...below: string[]): Promise<string> {
  printed = '';
  process.argv = [process.execPath, resolve(file), ...below, '--help'];
  await import(`../../${file}?${below.join()}`).catch((error: unknown) => {
    if (!(error instanceof Ended)) throw error;
  });
  return printed;
}
