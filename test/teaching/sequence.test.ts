import { expect, test } from 'vitest';
import { withSequences } from '../../teaching/sequence.ts';

test.each([
  ['no-such 4-ttl', /no scenario no-such/],
  ['late-release no-such', /no lock no-such/],
  ['late-release mysql-named', /no lock mysql-named in virtual time/],
  ['late-release 4-ttl, to: Z ends', /late-release has no sentence "Z ends"/],
])('sequence: %s is refused', async (named, why) => {
  await expect(withSequences(`<!-- sequence: ${named} --><!-- /sequence -->`)).rejects.toThrow(why);
});

test('sequence: a command that is held is drawn where it is held, and where it arrives', async () => {
  const drawn = await withSequences(
    'Before. <!-- sequence: late-release 5-owner-check --> old <!-- /sequence --> After.',
  );

  expect(drawn).toMatch(
    /^Before\. <!-- .* -->\n\n```mermaid\nsequenceDiagram\n.*\n```\n\n<!-- \/sequence --> After\.$/s,
  );
  expect(drawn).toMatch(/A-xR: DEL lock\n.*Note over A,B: the release of A arrives\n {4}A->>R: DEL lock → 1\n/s);
});
