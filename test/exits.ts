import { expect, vi } from 'vitest';

/** What is printed to stderr by an act that ends the process with 2. */
export async function printedAtEnd(act: () => unknown): Promise<string> {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit code ${code}`);
  });
  try {
    await expect((async () => act())()).rejects.toThrow('exit code 2');
    return write.mock.calls.map(([printed]) => printed).join('');
  } finally {
    exit.mockRestore();
    write.mockRestore();
  }
}
