import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequests } from '../../../scripts/link/resp.ts';
import { encode, split } from './own-links.ts';

const names = ['GET', 'set', 'DeL', 'MULTI', 'EVALSHA', 'eval', 'x'];

/** A command of one to five arguments, any bytes in any of them but the name, which now and then has any bytes as well. */
const command = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names).map(Buffer.from) }, fc.uint8Array({ maxLength: 5 })),
    fc.array(
      fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('\r\n', '*1\r\n$3\r\nDEL\r\n').map(Buffer.from)),
      {
        maxLength: 4,
      },
    ),
  )
  .map(([name, args]) => ({ args: [name, ...args].map((arg) => Buffer.from(arg)), bytes: encode(name, ...args) }));

const inlineCommand = fc
  .tuple(
    fc.array(fc.stringMatching(/^[a-zA-Z0-9.]{1,8}$/), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('\r\n', '\n'),
  )
  .map(([words, end]) => ({ args: words.map((word) => Buffer.from(word)), bytes: Buffer.from(words.join(' ') + end) }));

const emptyCommand = fc
  .constantFrom('\r\n', '\n', '*0\r\n', '*-1\r\n')
  .map((text) => ({ args: [] as Buffer[], bytes: Buffer.from(text) }));

const commands = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: command },
    { weight: 1, arbitrary: inlineCommand },
    { weight: 1, arbitrary: emptyCommand },
  ),
  { maxLength: 12 },
);
const chunkLengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

/** Reads all chunks and records what comes out, in order. */
function readAll(chunks: Buffer[], isWanted: (name: string) => boolean = () => false) {
  const names: string[] = [];
  const wanted: Buffer[][] = [];
  const out: Buffer[] = [];
  let invalid = 0;
  const reader = readRequests({
    isWanted(name) {
      names.push(name);
      return isWanted(name);
    },
    onBytes: (bytes) => out.push(bytes),
    onWanted(args, bytes) {
      wanted.push(args);
      out.push(bytes);
    },
    onInvalid: () => {
      invalid += 1;
    },
  });
  for (const chunk of chunks) reader.read(chunk);
  return { names, wanted, invalid, reader, bytes: () => Buffer.concat(out) };
}

const nameOf = (args: Buffer[]) => (args[0] as Buffer).toString('latin1').toUpperCase();

describe('link: reading requests', () => {
  it('link: however commands are split, each is read and every byte passes in order', () => {
    fc.assert(
      fc.property(commands, chunkLengths, fc.constantFrom('none', 'all', 'some'), (sent, lengths, wants) => {
        const bytes = Buffer.concat(sent.map((one) => one.bytes));
        const real = sent.map((one) => one.args).filter((args) => args.length > 0);
        const isWanted = (name: string) => wants === 'all' || (wants === 'some' && name.includes('E'));

        const read = readAll(split(bytes, lengths), isWanted);

        expect(read.bytes().equals(bytes)).toBe(true);
        expect(read.names).toEqual(real.map(nameOf));
        expect(read.wanted).toEqual(real.filter((args) => isWanted(nameOf(args))));
        expect(read.invalid).toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('link: any bytes at all pass in order, whatever they are', () => {
    const anything = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom('*2\r\n', '$3\r\n', 'GET\r\n', '\r', '\n', '*', '$', '-1', '*1\r\n$4\r\nPING\r\n')
          .map(Buffer.from),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(anything, chunkLengths, fc.boolean(), (parts, lengths, isWanted) => {
        const bytes = Buffer.concat(parts);

        const read = readAll(split(bytes, lengths), () => isWanted);
        read.reader.end();

        expect(read.bytes().equals(bytes)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('link: the script of EVAL and EVALSHA is known with the name', () => {
    const heads: unknown[] = [];
    const reader = readRequests({
      isWanted: (...head) => Boolean(heads.push(head)),
      onBytes: () => {},
      onWanted: () => {},
      onInvalid: () => {},
    });

    for (const byte of encode('evalsha', 'abc', '1', 'k')) reader.read(Buffer.from([byte]));
    for (const byte of encode('EVAL', 'return 1', '0')) reader.read(Buffer.from([byte]));
    reader.read(Buffer.concat([encode('EVAL'), encode('GET', 'k')]));

    expect(heads).toEqual([
      ['EVALSHA', 'abc'],
      ['EVAL', 'return 1'],
      ['EVAL', undefined],
      ['GET', undefined],
    ]);
  });

  it('link: a huge value that nobody wants passes as it comes', () => {
    const [start, half] = [Buffer.from('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20000000\r\n'), Buffer.alloc(10_000_000, 'v')];

    const read = readAll([start, half]);

    expect(read.bytes().length).toBe(start.length + half.length);
    expect(readAll([start, half], () => true).bytes().length).toBe(0);
  });

  it('link: a name of many kilobytes is no command of ours, and passes', () => {
    const bytes = Buffer.concat([encode('N'.repeat(70_000), 'x'), encode('PING')]);

    const read = readAll(split(bytes, [10_000]));

    expect(read.names).toEqual(['', 'PING']);
    expect(read.bytes().equals(bytes)).toBe(true);
  });

  it.each(
    [
      '*x\r\n',
      '*01\r\n',
      '*+1\r\n',
      '*\r\n',
      '*1\r\nPING\r\n',
      '*1\r\n$-1\r\n',
      '*1\r\n$99999999999\r\n',
      '*1\r\n$536870913\r\n',
      '*2147483648\r\n',
      '*2\r\n$4\r\nECHO\r\n4\r\n',
      `*${'1'.repeat(70_000)}`,
      'a'.repeat(70_000),
    ].map((garbage) => [JSON.stringify(garbage.slice(0, 30)), garbage] as const),
  )('link: %s is no request, and it and the rest pass unread', (_title, garbage) => {
    const bytes = Buffer.concat([encode('GET', 'k'), Buffer.from(garbage), encode('DEL', 'k')]);

    const read = readAll(split(bytes, [50_000]), () => true);

    expect(read.invalid).toBe(1);
    expect(read.names[0]).toBe('GET');
    expect(read.names).not.toContain('DEL');
    expect(read.bytes().equals(bytes)).toBe(true);
  });
});
