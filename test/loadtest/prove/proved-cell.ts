import { fileURLToPath } from 'node:url';
import { type Cell, proveCell, type Task } from '../../../prove/cell.ts';

/** What the search finds of a lock of the course, with 2 processes of 1 sale each. */
export function provedCell(stage: string, scope: string, more: Partial<Task> = {}): Promise<Cell> {
  const file = fileURLToPath(new URL(`../../../locks/${stage}.ts`, import.meta.url));
  const size = { processes: 2, sales: 1, masters: 0, budget: {}, isSplit: false, seconds: 60 };
  return proveCell({ stage, file, scope, ...size, ...more });
}
