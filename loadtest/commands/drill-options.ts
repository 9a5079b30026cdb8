// The command line of npm run drill.

import { join, resolve } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Drill } from '../harness/drill.ts';
import { guardDrills, keyDrills, scheduleDrills } from '../orders/drills/index.ts';
import { drills as allDrills } from '../scenarios/index.ts';
import { guardOfRow, guardStaircase, rowOfGuard } from '../staircase/guards.ts';
import { keyStaircase, rowOfStrategy, strategyOfRow } from '../staircase/keys.ts';
import { rowOfSchedule, schedules } from '../staircase/schedules.ts';
import { leaseLength, namesAmong, newCommand, reportsOption, stageList } from './command-line.ts';
import { type RunSettings, realSettings } from './options.ts';

export interface DrillCommand extends Pick<RunSettings, 'settings' | 'reportsDir'> {
  drill: Drill;
  /** The rows to run it under, in their order. */
  rows: string[];
  isStepwise: boolean;
  /** The file that keeps the run under a row as a page. Absent where nothing is kept. */
  fileFor?: (row: string) => string;
}

const guards = Object.keys(guardStaircase.rows).map(guardOfRow);
const scheduleKinds = Object.keys(schedules);
const strategies = Object.keys(keyStaircase.rows).map(strategyOfRow);
const lockDrills = allDrills.filter(({ kind }) => kind === 'steps');
/** Whose drills they are, and the option that names the rows. */
const families = [
  { drills: lockDrills, option: 'stage' },
  { drills: guardDrills, option: 'guard' },
  { drills: scheduleDrills, option: 'schedule' },
  { drills: keyDrills, option: 'idempotency' },
] as const;
const names = (drills: Drill[]) => drills.map(({ name }) => name).join(', ');
const allNames = names(families.flatMap(({ drills }) => drills));

interface Given extends Partial<Record<(typeof families)[number]['option'], string[]>> {
  drill?: string;
  lease: number;
  reports: string;
  pause: boolean;
  save?: string | true;
}

/** Reads the command line. What is not allowed ends the process with exit code 2 and one line. */
export function readDrillOptions(argv: string[]): DrillCommand {
  const command = newCommand('npm run drill', 'Breaks one stage on purpose, step by step, and writes a report.')
    .argument(
      '[drill]',
      `of a lock: ${names(lockDrills)}; of the clean-up: ${names(guardDrills)}; of its schedules: ${names(scheduleDrills)}; of the keys: ${names(keyDrills)}`,
    )
    .option('--drill <drill>', 'the drill, if it does not stand alone')
    .option('--stage <stages>', 'stages by number or name, such as 3,4 or 4-ttl', stageList)
    .option('--guard <guards>', `guards of the clean-up: ${guards.join(', ')}`, (value: string) =>
      namesAmong(guards, value).map(rowOfGuard),
    )
    .option('--schedule <kinds>', `schedules of the clean-up: ${scheduleKinds.join(', ')}`, (value: string) =>
      namesAmong(scheduleKinds, value).map(rowOfSchedule),
    )
    .option('--idempotency <strategies>', `what is done with the keys: ${strategies.join(', ')}`, (value: string) =>
      namesAmong(strategies, value).map(rowOfStrategy),
    )
    .option('--lease <ms>', 'the length of a lease, in milliseconds', leaseLength, realSettings.leaseMs)
    .option('--pause', 'wait for Enter at each step that can wait', false)
    .option(
      '--save [file]',
      'keep the run as a page that plays without a server: in this file, or one for each stage in reports/',
    )
    .addOption(reportsOption())
    .parse(argv);
  const given = command.opts<Given>();
  const refuse = (line: string): never => command.error(`error: ${line}`);
  const named = [...command.args, ...(given.drill === undefined ? [] : [given.drill])];
  const { drill, option } = drillAmong(named, refuse);
  const rows = given[option];
  const others = families.filter((family) => family.option !== option && given[family.option] !== undefined);
  if (rows === undefined || others.length > 0) {
    return refuse(
      `${drill.name} goes with --${option}${others.map(({ option }) => `, not with --${option}`).join('')}`,
    );
  }
  const { lease, pause: isStepwise, save, reports } = given;
  if (save !== undefined && option !== 'stage') return refuse('--save goes with the drills of a lock');
  if (typeof save === 'string' && rows.length > 1) {
    return refuse(`the file ${save} keeps one run: name one stage, or leave the file out`);
  }
  return {
    drill,
    rows,
    settings: { ...realSettings, leaseMs: lease },
    reportsDir: reports,
    isStepwise,
    ...(save !== undefined && { fileFor: (row: string) => placeOf(save, row, drill.name) }),
  };
}

/** The drill that is named, and the option that names its rows. */
function drillAmong(named: string[], refuse: (line: string) => never) {
  const [name, ...more] = named;
  // A name after --save is that of its file.
  if (name === undefined) return refuse(`name a drill before the options: ${allNames}`);
  if (more.length > 0) return refuse(`one drill at a time: ${named.join(' or ')}`);
  for (const { drills, option } of families) {
    const drill = drills.find((one) => one.name === name);
    if (drill !== undefined) return { drill, option };
  }
  return refuse(`there is no drill ${name}: it must be one of ${allNames}`);
}

/** A file is named from where the command was called. */
function placeOf(save: string | true, row: string, drill: string): string {
  if (save === true) return join(projectDir, 'reports', `${row}.${drill}.html`);
  return resolve(process.env['INIT_CWD'] || process.cwd(), save);
}
