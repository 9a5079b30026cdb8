// Prompts at the terminal.

import type { Interface } from 'node:readline/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Shows the prompt and resolves with what the user types, up to Enter. Rejects when the signal aborts. */
export async function askForEnter(keyboard: Interface, showPrompt: () => void, signal: AbortSignal): Promise<string> {
  // What was typed before may lie unread. One whole turn of the event loop reads it, and nobody listens yet.
  await nextTurn();
  await nextTurn();
  showPrompt();
  return keyboard.question('', { signal });
}
