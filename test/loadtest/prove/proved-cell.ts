import { fileURLToPath } from 'node:url';
import { type Cell, proveCell, type Task } from '../../../prove/cell.ts';

export const fileOfStage = (stage: string) => fileURLToPath(new URL(`../../../locks/${stage}.ts`, import.meta.url));

/** What the search finds of a lock of the course, with 2 processes of 1 sale each. */
export function provedCell(stage: string, scope: string, more: Partial<Task> = {}): Promise<Cell> {
  const size = { processes: 2, sales: 1, masters: 0, budget: {}, seconds: 60 };
  return proveCell({ stage, file: fileOfStage(stage), scope, ...size, ...more });
}
