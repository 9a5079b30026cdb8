import { expect, test } from 'vitest';
import { readScript } from '../../../locks/drivers/script.ts';
import { NO_ANSWER, openLab } from '../lab.ts';

const lab = openLab();
const releaseIfOwner = readScript('release-if-owner');

function openProcess() {
  const p = lab.process('0-none');
  return { ...p, release: () => lab.done(releaseIfOwner(p.redis, ['lock'], ['ours'])) };
}

test('script: a script that Redis has forgotten is sent as its text, once', async () => {
  const { sent, release } = openProcess();
  lab.redis('SCRIPT', 'FLUSH');
  lab.redis('SET', 'lock', 'ours');

  expect([await release(), await release()]).toEqual([1, 0]);

  expect(sent).toEqual(['release-if-owner', 'eval release-if-owner', 'release-if-owner']);
});

test.each(['release-if-owner', 'eval release-if-owner'])(
  'script: an error of the connection is passed on, and it is not sent again: %s',
  async (command) => {
    const { sent, release, fail } = openProcess();
    if (command.startsWith('eval')) lab.redis('SCRIPT', 'FLUSH');
    fail(command);

    await expect(release()).rejects.toThrow(NO_ANSWER);

    expect(sent.at(-1)).toBe(command);
  },
);
