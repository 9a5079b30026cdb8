import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openKeyboard } from '../../../loadtest/commands/keyboard.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';

test('--pause: Enter that was pressed while the drill was busy is ignored, the next one counts', async () => {
  const temp = makeTempDir();
  const pressed = join(temp.dir, 'pressed');
  // Presses Enter at once, and again when it is asked to.
  const fingers = spawn('sh', ['-c', 'echo; : > "$0"; read line; echo; read line', pressed]);
  try {
    const keyboard = openKeyboard(fingers.stdout, () => {});
    // A busy event loop reads nothing.
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(pressed)) Atomics.wait(never, 0, 0, 5);

    let shown = () => {};
    const prompt = new Promise<void>((resolve) => {
      shown = resolve;
    });
    let goesOn = false;
    const entered = keyboard.waitForEnter(shown, new AbortController().signal).then(() => {
      goesOn = true;
    });
    await prompt;
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(goesOn).toBe(false);

    fingers.stdin.write('\n');
    await entered;
  } finally {
    fingers.stdin.end();
    fingers.kill();
    if (fingers.exitCode === null && fingers.signalCode === null) await once(fingers, 'exit');
    temp.remove();
  }
});
