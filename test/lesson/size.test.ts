// The docs stay short enough to be read.

import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

/** How many bytes the pages of docs/ may have together, the generated parts and the Chinese pages included. */
const MOST_BYTES = 420_000;

test('docs/: its pages together are no longer than they may be', () => {
  const pages = listDeep('docs').filter((file) => file.endsWith('.md'));
  const sizes = pages.map((file) => ({ file, bytes: Buffer.byteLength(readText(file)) }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const longest = sizes.toSorted((a, b) => b.bytes - a.bytes).slice(0, 10);

  expect(total, `The longest: ${longest.map(({ file, bytes }) => `${file} ${bytes}`).join(', ')}.`).toBeLessThanOrEqual(
    MOST_BYTES,
  );
});
