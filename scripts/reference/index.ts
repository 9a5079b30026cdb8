// The parts of the reference that are generated: a page of docs/ shows one where a marker names it, such as `reference: matrix`.

import type { ReferencePart } from '../../workshop/teaching/chapter.ts';
import { commandLine } from './command-line.ts';
import { matrix } from './matrix.ts';

/** By the name that stands in the marker. */
export const reference: Record<string, ReferencePart> = { 'command-line': commandLine, matrix };
