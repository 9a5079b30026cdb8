// The parts of the reference that are generated: a page of docs/ shows one where a marker names it, such as `reference: matrix`.

import type { ReferencePart } from '../../workshop/teaching/chapter.ts';
import { adminApi } from './admin-api.ts';
import { checks, notPromised } from './checks.ts';
import { commandLine } from './command-line.ts';
import { benchFormat, judgeFormat, proveFormat, resultsFormat } from './formats.ts';
import { answers, calls, parameters, problemCodes } from './http-api.ts';
import { knownBugs, twins } from './known-bugs.ts';
import { libraries } from './libraries.ts';
import { matrix, orderMatrices } from './matrix.ts';
import { scenarios, wholeScenario } from './scenarios.ts';
import { settings } from './settings.ts';

/** By the name that stands in the marker. */
export const reference: Record<string, ReferencePart> = {
  'admin-api': adminApi,
  answers,
  'bench-format': benchFormat,
  calls,
  checks,
  'command-line': commandLine,
  'judge-format': judgeFormat,
  'known-bugs': knownBugs,
  libraries,
  matrix,
  'not-promised': notPromised,
  'order-matrices': orderMatrices,
  parameters,
  'problem-codes': problemCodes,
  'prove-format': proveFormat,
  'results-format': resultsFormat,
  scenarios,
  settings,
  twins,
  'whole-scenario': wholeScenario,
};
