import { expect, onTestFinished, test } from 'vitest';
import { createOwnParts } from '../../stack/own-parts.ts';
import { startPart } from '../../stack/parts.ts';

/** A process that does nothing, and how it is started again. */
async function ownServer(name: string) {
  const startAgain = () =>
    startPart({ name, command: 'tail', args: ['-f', '/dev/null'], isReady: async () => true, stopLimitMs: 1_000 });
  return { part: await startAgain(), startAgain };
}

test('own parts: what is killed by its name starts again; its end from outside is a death', async () => {
  const parts = createOwnParts();
  onTestFinished(() => parts.stopAll(() => {}));
  const server = parts.breakable(await ownServer('one'));
  const before = server.pid();
  await server.kill();
  await server.start();

  expect(server.pid()).not.toBe(before);
  server.signal('SIGKILL');
  expect(await parts.partDied).toMatchObject({ part: 'one', message: expect.stringContaining('SIGKILL') });
});

test('own parts: a spare whose end comes from outside is told, and is no death', async () => {
  let tell: (sentence: string) => void;
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const parts = createOwnParts((sentence) => tell(sentence));
  onTestFinished(() => parts.stopAll(() => {}));
  const [spare, other] = [parts.breakable(await ownServer('spare'), true), parts.breakable(await ownServer('other'))];
  spare.signal('SIGKILL');

  expect(await told).toContain('spare was killed by SIGKILL');
  other.signal('SIGKILL');
  expect(await parts.partDied).toMatchObject({ part: 'other' });
});
