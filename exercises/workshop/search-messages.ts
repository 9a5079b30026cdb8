// What the process of the search is sent, and what it sends.

import type { Cell } from '../../prove/cell.ts';

export interface SearchTask {
  /** The file to judge. */
  file: string;
  scopes: string[];
  processes: number;
  sales: number;
  isAtOnce: boolean;
  /** How long one scope may take, in seconds. */
  seconds: number;
}

export type FromSearch =
  /** It is there. A lock that never comes back keeps it from saying so. */
  | { type: 'alive' }
  /** It has loaded all that it needs. */
  | { type: 'ready' }
  | { type: 'cell'; cell: Cell }
  /** The file can't be judged, and why: a clause. */
  | { type: 'problem'; problem: string }
  /** Somebody sends this command again and again at the same moment. */
  | { type: 'restless'; command: string }
  | { type: 'done' };
