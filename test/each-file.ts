// Runs before each test file.

import { afterAll, beforeEach } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { watchMachine } from './machine.ts';

beforeEach(watchMachine);
afterAll(cleanUp);
