import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Results, resultsSchema } from '../../loadtest/evidence/results.ts';
import type { CommandUnderTest } from './command-under-test.ts';

/** A small run. */
export const QUICK = '--requests 300 --connections 30 --stock 1000 --units 150 --lease 600'.split(' ');

export const cell = (results: Results, stage: string, drill: string) =>
  results.stages.find((result) => result.stage === stage)?.drills.find((result) => result.drill === drill);

export const drillsOf = (results: Results) =>
  results.stages.flatMap(({ stage, drills }) => drills.map(({ drill }) => `${stage} ${drill}`));

export const readLatest = (command: CommandUnderTest) =>
  resultsSchema.parse(JSON.parse(readFileSync(join(command.reports, 'latest/results.json'), 'utf8')));
