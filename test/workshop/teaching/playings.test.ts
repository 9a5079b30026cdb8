import { expect, test } from 'vitest';
import { withPlayings } from '../../../workshop/teaching/playings.ts';

test.each([
  ['sequence', 'no-such 4-ttl', /no scenario no-such/],
  ['sequence', 'late-release no-such', /no lock no-such/],
  ['transcript', 'late-release mysql-named', /no lock mysql-named in virtual time/],
  ['transcript', 'long-wait 3-spin', /long-wait can't be played in virtual time: .*memory/],
  ['sequence', 'late-release 4-ttl, to: Z ends', /late-release has no line "Z ends"/],
  ['transcript', 'late-release 4-ttl, to: B ends', /a transcript is shown whole/],
])('%s: %s is refused', async (kind, named, why) => {
  await expect(withPlayings(`<!-- ${kind}: ${named} --><!-- /${kind} -->`)).rejects.toThrow(why);
});

test('sequence: a command that is held is drawn where it is held, and where it arrives', async () => {
  const drawn = await withPlayings(
    'Before. <!-- sequence: late-release 5-owner-check --> old <!-- /sequence --> After.',
  );

  expect(drawn).toMatch(
    /^Before\. <!-- .* -->\n\n```mermaid\nsequenceDiagram\n.*\n```\n\n<!-- \/sequence --> After\.$/s,
  );
  expect(drawn).toMatch(/A-xR: DEL lock\n.*A->>R: DEL lock → 1\n {4}Note over A,B: The late release of A arrived\.\n/s);
});

test('transcript: it has the stage, each step with its time, the verdict, what was seen, and the command', async () => {
  const part = '<!-- transcript: long-sale 7-reentrant -->\n\nold\n\n<!-- /transcript -->';

  expect((await withPlayings(part)).split('\n')).toEqual([
    '<!-- transcript: long-sale 7-reentrant -->',
    '',
    '```text',
    'Stage 7 · reentrant  a hash { owner: hold count }, acquire and release in Lua.',
    '    0.00 s  A came to node-1 for a sale of 3 s.',
    '    0.00 s  B came to node-2 for a sale of 3 s.',
    expect.stringMatching(/^ {4}3\.5\d s {2}All sales ended, with 99 left in stock\.$/),
    expect.stringMatching(
      /^ {2}✘ fails {2}Two holders were inside at the same moment: 1 pair\. .* A sale lost its lock in the middle\.$/,
    ),
    '    Expected: this stage fails here.',
    expect.stringMatching(
      /^ {4}sale 0001 on node-1 and sale 0001 on node-2 were both inside, from 0\.5\d\d s to 3\.\d\d\d s\.$/,
    ),
    expect.stringMatching(/^ {4}sale 0001 on node-1 .* both read stock 100\.$/),
    '```',
    '',
    '_`npm run drill -- long-sale --stage 7`, played in simulated time._',
    '',
    '<!-- /transcript -->',
  ]);
});
