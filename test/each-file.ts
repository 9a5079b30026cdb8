// Runs before each test file.

import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.ts';

// What is printed has no colours in a test, whatever the terminal or the machine asks for.
process.env.NO_COLOR = '1';
delete process.env.FORCE_COLOR;

afterAll(cleanUp);
