import { abortable } from '../../locks/drivers/abortable.ts';

/**
 * Resolves with what was asked for. When `signal` aborts, it rejects with AbortError at once. A library that knows no
 * AbortSignal keeps asking, and what arrives later is given back.
 */
export async function cancelOnAbort<T>(
  asked: Promise<T>,
  signal: AbortSignal | undefined,
  giveBack: (held: T) => unknown,
) {
  try {
    return await abortable(asked, signal);
  } catch (error) {
    asked.then(giveBack).catch(() => {});
    throw error;
  }
}
