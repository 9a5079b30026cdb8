import { expect, test } from 'vitest';
import { withParts } from '../../../workshop/teaching/chapter.ts';

test.each([
  ['sequence', 'no-such 4-ttl', /no scenario no-such/],
  ['sequence', 'late-release no-such', /no lock no-such/],
  ['transcript', 'late-release mysql-named', /no lock mysql-named in simulated time/],
  ['transcript', 'long-wait 3-spin', /long-wait can't be played in simulated time: .*memory/],
  ['sequence', 'late-release 4-ttl, to: Z ends', /late-release has no line "Z ends"/],
  ['transcript', 'late-release 4-ttl, to: B ends', /a transcript is always complete/],
])('%s: %s is refused', async (kind, named, why) => {
  await expect(withParts(`<!-- ${kind}: ${named} --><!-- /${kind} -->`)).rejects.toThrow(why);
});

// What is drawn and told is in the chapters: test/lesson/pages.test.ts.
