// What the command lines of all commands share: how one ends that is not allowed, and how values are read.

import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { knownVersions, lockName, strategies } from '../../locks/index.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { AS_TAUGHT, COULD_NOT_RUN } from './ending.ts';

/** The shortest lease in which a step of a drill can still fall, in milliseconds. */
const SHORTEST_LEASE_MS = 100;

/** A command, such as `npm start`. What is not allowed ends the process with exit code 2 and one line. */
export function newCommand(name: string, description: string): Command {
  return new Command(`${name} --`)
    .description(description)
    .allowExcessArguments(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? AS_TAUGHT : COULD_NOT_RUN));
}

export const reportsOption = (what = 'where the reports go') =>
  new Option('--reports <folder>', what).default(join(projectDir, 'reports'));

export const jsonOption = () => new Option('--json', 'print the results as JSON and nothing else').default(false);

/** A running stack to aim at. Both go together: see `runningOf`. */
export const runningOptions = [
  new Option('--url <url>', 'aim at a running stack: its load balancer').argParser(webAddress),
  new Option(
    '--lab <urls>',
    'the lab listeners of its nodes, such as http://127.0.0.1:7778,http://127.0.0.1:8889',
  ).argParser(webAddresses),
];

/** The running stack that is named, if one is. */
export function runningOf({ url, lab }: { url?: string; lab?: string[] }, command: Command) {
  if (url !== undefined && lab !== undefined) return { url, labUrls: lab };
  return url === lab ? undefined : command.error('error: --url and --lab go together');
}

/** Stages by number or name, with commas between them; each once, in the order of the course. Throws InvalidArgumentError. */
export function stageList(value: string): string[] {
  return inOrder(
    value.split(',').map((version) => {
      const name = lockName(version.trim());
      if (name === undefined) throw new InvalidArgumentError(`It must be ${knownVersions}.`);
      return name;
    }),
  );
}

/** Each once, in the order of the course. */
export function inOrder(stages: string[]) {
  return Object.keys(strategies).filter((name) => stages.includes(name));
}

/** Some of these names, with commas between them; each once, in their order. Throws InvalidArgumentError. */
export function namesAmong(names: string[], value: string): string[] {
  const wanted = value.split(',').map((name) => name.trim());
  if (wanted.every((name) => names.includes(name))) return names.filter((name) => wanted.includes(name));
  throw new InvalidArgumentError(`It must be one of ${names.join(', ')}.`);
}

/** Throws InvalidArgumentError for a lease in which no step of a drill could fall. */
export function leaseLength(value: string): number {
  const ms = wholeNumber(value);
  if (ms < SHORTEST_LEASE_MS) {
    throw new InvalidArgumentError(`It must be at least ${SHORTEST_LEASE_MS} ms, so that a step can fall inside it.`);
  }
  return ms;
}

/** Reads a whole number from `least` to `most`. What it returns throws InvalidArgumentError. */
export function wholeNumberFrom(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export const wholeNumber = wholeNumberFrom(1, 1_000_000);

function webAddress(value: string): string {
  if (URL.canParse(value) && /^https?:\/\//.test(value)) return new URL(value).origin;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080.');
}

function webAddresses(value: string): string[] {
  const addresses = value.split(',').map(webAddress);
  if (addresses.length === 2) return addresses;
  throw new InvalidArgumentError('It must be two addresses with a comma between them.');
}
