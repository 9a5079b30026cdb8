// Enter, which the audience presses to go on with the next step.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Keyboard {
  /** Shows the prompt, and resolves when Enter is pressed while it shows. Rejects when the signal aborts. */
  waitForEnter(showPrompt: () => void, signal: AbortSignal): Promise<void>;
}

/** Listens to what is typed. `onEnd` is called when nothing can be typed any more. */
export function openKeyboard(input: NodeJS.ReadableStream, onEnd: () => void): Keyboard {
  const keyboard = createInterface({ input });
  keyboard.on('close', onEnd);
  return {
    async waitForEnter(showPrompt, signal) {
      // What was typed before may lie unread. One whole turn of the event loop reads it, and nobody listens yet.
      await nextTurn();
      await nextTurn();
      showPrompt();
      await once(keyboard, 'line', { signal });
    },
  };
}
