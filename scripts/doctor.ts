// npm run doctor: checks what is installed on this machine, what each missing part costs you, and how to install it.

import { arch, type } from 'node:os';
import { Help } from 'commander';
import pc from 'picocolors';
import { countOf, listOf } from '../loadtest/narration/numbers.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { callOf } from '../stack/call-of.ts';
import { checks, type Finding, type State } from '../workshop/teaching/checks.ts';
import { newCommand } from './command-line/command.ts';
import { AS_EXPECTED, COULD_NOT_RUN, endWith, NOT_AS_EXPECTED } from './command-line/ending.ts';

const WIDTH = 96;
const PART_WIDTH = 17;
const marks: Record<State, string> = { ok: pc.blue('✔'), less: pc.yellow('!'), stops: pc.red('✘') };

loadEnvFile();
const { json } = newCommand('doctor', ['json']).parse().opts<{ json: boolean }>();

// What it has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(COULD_NOT_RUN));
await endWith('This machine could not be checked', lookAtAll);

/** Resolves with 0 if `npm start` can run, with 1 if it can't. */
async function lookAtAll(): Promise<number> {
  if (!json) console.log(`Lockstep on ${type()} ${arch()}\n`);
  const findings: Finding[] = [];
  for (const check of checks) {
    for (const finding of [await check()].flat()) {
      findings.push(finding);
      if (!json) console.log(told(finding));
    }
  }
  const canStart = findings.every(({ state }) => state !== 'stops');
  if (json) console.log(JSON.stringify({ format: 1, canStart, findings }, null, 2));
  else console.log(`\n${conclusion(findings)}`);
  return canStart ? AS_EXPECTED : NOT_AS_EXPECTED;
}

/** The finding about one part, in lines short enough for a projector. */
function told({ part, state, found, cost, remedy }: Finding): string {
  const lines = [`${marks[state]} ${pc.bold(part.padEnd(PART_WIDTH))}${folded(found)}`];
  if (cost) lines.push(`${' '.repeat(PART_WIDTH + 2)}${folded(`Impact: ${cost}.`)}`);
  if (remedy) lines.push(`${' '.repeat(PART_WIDTH + 2)}${pc.bold(folded(`Fix:    ${remedy}`))}`);
  return lines.join('\n');
}

function conclusion(findings: Finding[]): string {
  const named = (wanted: State) => findings.filter(({ state }) => state === wanted).map(({ part }) => part);
  const [stops, less] = [named('stops'), named('less')];
  if (stops.length > 0) return `${pc.red('✘')} ${callOf('start')} can't run: check ${listOf(stops)}.`;
  if (less.length === 0) return `${pc.blue('✔')} ${callOf('start')} can run. Nothing is missing.`;
  return `${pc.blue('✔')} ${callOf('start')} can run. ${countOf(less.length, 'part')} to check: ${listOf(less)}.`;
}

/** The text in lines of WIDTH, each below the first. */
function folded(text: string): string {
  const indent = ' '.repeat(PART_WIDTH + 2);
  return new Help().boxWrap(text, WIDTH - indent.length).replaceAll('\n', `\n${indent}`);
}
