import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NotACommand, readCommands } from '../../../scripts/link/resp.ts';
import { encode, split } from './own-links.ts';

const argument = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('GET', '\r\n', '*1\r\n$3\r\nDEL\r\n').map((text) => Buffer.from(text)),
);
const commands = fc.array(fc.array(argument, { minLength: 1, maxLength: 5 }), { maxLength: 12 });
const chunkLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

/** Reads all chunks and records what comes out, in order. */
function readAll(chunks: Buffer[]) {
  const read: { args: Buffer[]; bytes: Buffer }[] = [];
  const reader = readCommands((args, bytes) => read.push({ args, bytes }));
  let error: unknown;
  try {
    for (const chunk of chunks) reader(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { args: read.map(({ args }) => args), bytes: Buffer.concat(read.map(({ bytes }) => bytes)), error };
}

describe('link: reading commands', () => {
  it('link: however commands are split, each is read, with every byte and in order', () => {
    fc.assert(
      fc.property(commands, chunkLengths, (sent, lengths) => {
        const bytes = Buffer.concat(sent.map((args) => encode(...args)));

        const read = readAll(split(bytes, lengths));

        expect(read.error).toBe(undefined);
        expect(read.bytes.equals(bytes)).toBe(true);
        expect(read.args.map((args) => args.map(String))).toEqual(sent.map((args) => args.map(String)));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('link: a command that is not complete is not given out', () => {
    const bytes = encode('SET', 'k', 'v');

    for (let length = 0; length < bytes.length; length += 1) {
      expect(readAll([bytes.subarray(0, length)])).toMatchObject({ args: [], error: undefined });
    }
  });

  it('link: a value of many megabytes is put together once', () => {
    const value = Buffer.alloc(8_000_000, 'v');
    const chunks = split(encode('SET', 'k', value), [16_384]);
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    let length = 0;
    const reader = readCommands((args) => {
      length = args[2]?.length ?? 0;
    });

    for (const chunk of chunks) reader(chunk);

    expect(length).toBe(value.length);
    expect(concat).toHaveBeenCalledTimes(1);
  });

  it.each([
    'PING\r\n',
    '*-1\r\n',
    '*12345678901\r\n',
    '*1\r\nPING\r\n',
    '*1\r\n$4\r\nPINGS\r\n',
    '*2\r\n$4\r\nECHO\r\n4\r\n',
  ])('link: %j is no command: what came before is read, and nothing after it', (garbage) => {
    const bytes = Buffer.concat([encode('GET', 'k'), Buffer.from(garbage), encode('DEL', 'k')]);

    for (const length of [1, 7, 1_000]) {
      const read = readAll(split(bytes, [length]));

      expect(read.error).toBeInstanceOf(NotACommand);
      expect(read.args).toEqual([['GET', 'k'].map((word) => Buffer.from(word))]);
    }
  });
});
