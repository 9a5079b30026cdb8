// Loads what is written in an exercise about orders, in a process of its own: it may end it, or never let it end.

import { readParts } from './read-parts.ts';

const [file = ''] = process.argv.slice(2);
const found = await readParts(file).then(
  (parts) => Object.keys(parts),
  (error: Error) => error.message,
);
process.send?.(found, () => process.exit(0));
