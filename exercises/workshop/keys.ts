// The keys that are pressed, by their names.

import { emitKeypressEvents } from 'node:readline';

/** A terminal, or a stream that stands in for one. */
export type KeyInput = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

interface Pressed {
  name?: string;
  sequence?: string;
  ctrl?: boolean;
}

/** Listens to keys: `quit` for Ctrl-C, Ctrl-D and the end of the input, else the key's own name. Returns what ends that. */
export function listenToKeys(input: KeyInput, onKey: (key: string) => void): () => void {
  const press = (text: string | undefined, { name, ctrl }: Pressed) => {
    if (ctrl && (name === 'c' || name === 'd')) onKey('quit');
    else if (!ctrl) onKey(text === '?' ? '?' : (name ?? text ?? ''));
  };
  const end = () => onKey('quit');
  emitKeypressEvents(input);
  if (input.isTTY) input.setRawMode?.(true);
  input.on('keypress', press).on('end', end);
  input.resume();
  return () => {
    input.off('keypress', press).off('end', end);
    if (input.isTTY) input.setRawMode?.(false);
    input.pause();
  };
}
