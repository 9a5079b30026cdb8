// Runs before each test file.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { runAgainAfterStandstill, testBegins } from './machine.ts';

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern what the hook needs.
beforeAll(({}, suite) => runAgainAfterStandstill(suite));
beforeEach(testBegins);
afterAll(cleanUp);
