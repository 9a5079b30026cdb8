import { expect, test } from 'vitest';
import { deleteIfEqual, deletingCommands } from '../../../locks/drivers/delete-if-equal.ts';
import { NO_ANSWER, openLab } from '../lab.ts';

const lab = openLab();

/**
 * A client of a server that has these commands alone, which is the real one under other names: what it has is carried out by
 * DELIFEQ, and what it lacks is unknown to the server.
 */
function serverWith(...has: string[]) {
  const { redis } = lab.process('0-none');
  const sent: string[] = [];
  const client = new Proxy(redis, {
    get(target, name) {
      if (name !== 'call') return Reflect.get(target, name, target);
      return (command: string, ...args: string[]) => {
        sent.push([command, ...args].join(' '));
        if (!has.includes(command)) return target.call(`NO-${command}`, ...args);
        return target.call('DELIFEQ', args[0] ?? '', args.at(-1) ?? '');
      };
    },
  });
  /** What a release resolves with, and what the key holds then. */
  const release = async (value: string) => [
    await lab.done(deleteIfEqual(client, 'lock', value)),
    lab.redis('GET', 'lock'),
  ];
  return { sent, has, release };
}

test('delete-if-equal: a server that has DELEX instead is asked for it from the second time on', async () => {
  const { sent, release } = serverWith('DELEX');
  lab.redis('SET', 'lock', 'a');

  expect(await release('b')).toEqual([0, 'a']);
  expect(await release('a')).toEqual([1, null]);

  expect(sent).toEqual(['DELIFEQ lock b', 'DELEX lock IFEQ b', 'DELEX lock IFEQ a']);
});

test('delete-if-equal: a server that has neither deletes nothing, and its error is passed on', async () => {
  const { sent, release } = serverWith();
  lab.redis('SET', 'lock', 'a');

  await expect(release('a')).rejects.toThrow(/^ERR unknown command/);

  expect(lab.redis('GET', 'lock')).toBe('a');
  expect(sent).toHaveLength(Object.keys(deletingCommands).length);
});

test('delete-if-equal: any other error is passed on, and nothing is sent again', async () => {
  const p = lab.process('0-none');
  p.fail();

  await expect(lab.done(deleteIfEqual(p.redis, 'lock', 'a'))).rejects.toThrow(NO_ANSWER);

  expect(p.sent).toEqual(['delifeq']);
});
