import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { expect, test } from 'vitest';
import { askForEnter } from '../../scripts/command-line/keyboard.ts';
import { makeTempDir } from '../../stack/parts.ts';
import { ownCommands } from './command-under-test.ts';

const file = 'scripts/drill.ts';
const start = ownCommands(file);

test('2: there is no Redis where REDIS_URL says', async () => {
  const command = start(file, ['nested-call', '--stage', '7'], { REDIS_URL: 'redis://127.0.0.1:1' });

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(/The run failed: .*REDIS_URL/);
});

test('--pause: Enter that was pressed while the drill was busy is ignored, the next one counts', async () => {
  const temp = makeTempDir();
  const server = createServer().listen(join(temp.dir, 'keyboard'));
  const fingers = createConnection(join(temp.dir, 'keyboard'));
  const [input] = (await once(server, 'connection')) as [Socket];
  const keyboard = createInterface({ input });
  try {
    // It is at the other end at once, and nobody has read it yet.
    fingers.write('while it was busy\n');
    const press = () => void fingers.write('at the prompt\n');
    expect(await askForEnter(keyboard, press, new AbortController().signal)).toBe('at the prompt');
  } finally {
    keyboard.close();
    fingers.destroy();
    input.destroy();
    server.close();
    temp.remove();
  }
});
