// Runs before each test file.

import { afterAll } from 'vitest';
import { speak } from '../loadtest/narration/language.ts';
import { cleanUp } from './clean-up.ts';

// What is printed has no colours in a test, whatever the terminal or the machine asks for.
process.env.NO_COLOR = '1';
delete process.env.FORCE_COLOR;
// And it is English, whatever the locale of the machine, and whatever the file before has spoken.
process.env.LC_ALL = 'C';
speak('en');

afterAll(cleanUp);
