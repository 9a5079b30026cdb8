// A lock as a check has it.

import type { ReadCommand } from '../../simulation/proxy.ts';
import type { Promises } from '../evidence/promises.ts';
import type { Staging } from './staging.ts';

/** What the lock does when nobody is in its way. */
export interface Survey {
  /** The commands that it sends to enter and to release, in their order. To several masters it sends each of them. */
  acquire: ReadCommand[];
  release: ReadCommand[];
  /** Those that it sends while it holds, when a part of its lease has passed. */
  renewal: ReadCommand[];
  hasLost: boolean;
  hasToken: boolean;
  /** No command of it names the key: a clause with a full stop. */
  isElsewhere?: string;
}

export interface LockUnderTest {
  promises: Promises;
  survey: Survey;
  /** Stages something in a world of its own. */
  stage<T>(act: (staging: Staging) => Promise<T>): Promise<T>;
}
