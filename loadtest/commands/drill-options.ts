// The command line of npm run drill.

import { join, resolve } from 'node:path';
import { lockName } from '../../locks/index.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Drill } from '../harness/drill.ts';
import { shortNameOf } from '../staircase/staircase.ts';
import { leaseLength, newCommand, reportsOption } from './command-line.ts';
import { type RunSettings, realSettings } from './options.ts';
import { type Flight, tracks } from './tracks.ts';

export interface DrillCommand extends Pick<RunSettings, 'settings' | 'reportsDir'> {
  drill: Drill;
  /** The rows to run it under, in their order. */
  rows: string[];
  isStepwise: boolean;
  /** The file that keeps the run under a row as a page. Absent where nothing is kept. */
  fileFor?: (row: string) => string;
}

interface Given {
  stage: string;
  lease: number;
  reports: string;
  pause: boolean;
  save?: string | true;
}

const flights: Flight[] = Object.values(tracks).flat();
const stepsOf = ({ drills }: Flight) => drills.filter(({ kind }) => kind === 'steps');
const listed = flights.map((flight) => stepsOf(flight).map(({ name }) => name));

/** Reads the command line. What is not allowed ends the process with exit code 2 and one line. */
export function readDrillOptions(argv: string[]): DrillCommand {
  const command = newCommand('npm run drill', 'Breaks one stage on purpose, step by step, and writes a report.')
    .argument('<drill>', `of a lock: ${listed[0]?.join(', ')}; of the orders: ${listed.slice(1).flat().join(', ')}`)
    .requiredOption(
      '--stage <stages>',
      `stages by number or name, such as 3,4 or 4-ttl; for a drill of the orders ${flights.slice(1).map(namesOf).join(', or ')}`,
    )
    .option('--lease <ms>', 'the length of a lease, in milliseconds', leaseLength, realSettings.leaseMs)
    .option('--pause', 'wait for Enter at each step that can wait', false)
    .option(
      '--save [file]',
      'keep the run as a page that plays without a server: in this file, or one for each stage in reports/',
    )
    .addOption(reportsOption())
    .parse(argv);
  const { stage, lease, pause: isStepwise, save, reports } = command.opts<Given>();
  const refuse = (line: string): never => command.error(`error: ${line}`);
  const [name = ''] = command.args;
  const flight = flights.find((each) => stepsOf(each).some((drill) => drill.name === name));
  const drill = flight?.drills.find((each) => each.name === name);
  if (!flight || !drill) return refuse(`there is no drill ${name}: it must be one of ${listed.flat().join(', ')}`);
  const rows = rowsNamed(flight, stage);
  if (rows === undefined) return refuse(`--stage ${stage} is not allowed for ${name}: it must be ${namesOf(flight)}`);
  if (save !== undefined && flight !== flights[0]) return refuse('--save goes with the drills of a lock');
  if (typeof save === 'string' && rows.length > 1) {
    return refuse(`the file ${save} keeps one run: name one stage, or leave the file out`);
  }
  return {
    drill,
    rows,
    settings: { ...realSettings, leaseMs: lease },
    reportsDir: reports,
    isStepwise,
    ...(save !== undefined && { fileFor: (row: string) => placeOf(save, row, name) }),
  };
}

const namesOf = ({ staircase }: Flight) => Object.keys(staircase.rows).map(shortNameOf).join(', ');

/** The rows that are named, with commas between them, in their order. Undefined when one is not known. */
function rowsNamed({ staircase }: Flight, value: string): string[] | undefined {
  const rows = Object.keys(staircase.rows);
  const wanted = value.split(',').map((part) => {
    const name = part.trim();
    return rows.find((row) => [row, shortNameOf(row)].includes(name) || shortNameOf(row) === lockName(name));
  });
  return wanted.includes(undefined) ? undefined : rows.filter((row) => wanted.includes(row));
}

/** A file is named from where the command was called. */
function placeOf(save: string | true, row: string, drill: string): string {
  if (save === true) return join(projectDir, 'reports', `${row}.${drill}.html`);
  return resolve(process.env['INIT_CWD'] || process.cwd(), save);
}
