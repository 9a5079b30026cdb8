// The random bytes of a simulated process, and the modules that return them: always the same, and different for each process.

import { createHash } from 'node:crypto';
import type { Lacking } from './lacking.ts';

/** What of node:crypto needs no time, and gives the same each time. */
const harmless =
  /^(get(Hashes|Ciphers|Curves|CipherInfo|Fips)|create(Hash|Hmac|Cipheriv|Decipheriv|SecretKey|PublicKey|PrivateKey)|(hkdf|pbkdf2|scrypt|checkPrime)Sync|hash|timingSafeEqual|Hash|Hmac|KeyObject)$/;

type View = NodeJS.ArrayBufferView;
type Done<T> = (error: null, value: T) => void;

/** The crypto of the process of this name. */
export function createCrypto(name: string, { only }: Pick<Lacking, 'only'>) {
  let blocks = 0;

  function bytes(size: number): Buffer {
    const parts: Buffer[] = [];
    for (let length = 0; length < size; length += 64) {
      blocks += 1;
      parts.push(createHash('sha512').update(`${name} ${blocks}`).digest());
    }
    return Buffer.concat(parts).subarray(0, size);
  }
  function fill<T extends View>(view: T, offset = 0, size = view.byteLength - offset): T {
    Buffer.from(view.buffer, view.byteOffset + offset, size).set(bytes(size));
    return view;
  }
  function uuid(): string {
    const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(bytes(16).toString('hex')) ?? [];
    return `${parts[0]}-${parts[1]}-4${parts[2]}-8${parts[3]}-${parts[4]}`;
  }
  /** Gives a value back, or to who is to be called later. */
  function give<T>(value: T, done?: Done<T>): T {
    if (done) process.nextTick(done, null, value);
    return value;
  }
  function integer(...args: (number | Done<number> | undefined)[]) {
    const [end = 0, least = 0] = args.filter((each) => typeof each === 'number').reverse();
    const value = least + Math.floor((bytes(6).readUIntBE(0, 6) / 2 ** 48) * (end - least));
    return give(
      value,
      args.find((each) => typeof each === 'function'),
    );
  }
  const randomBytes = (size: number, done?: Done<Buffer>) => give(bytes(size), done);

  const { webcrypto, subtle } = process.getBuiltinModule('crypto');
  const web = {
    getRandomValues: (view: View) => fill(view),
    randomUUID: uuid,
    subtle: only('crypto.subtle', subtle, {
      async digest(algorithm: string | { name: string }, data: View | ArrayBuffer) {
        const { name } = typeof algorithm === 'string' ? { name: algorithm } : algorithm;
        const digest = createHash(name.replace('-', '')).update(new Uint8Array('buffer' in data ? data.buffer : data));
        return Uint8Array.from(digest.digest()).buffer;
      },
    }),
  };
  const webCrypto = only('crypto.webcrypto', webcrypto, web);

  return {
    uuid,
    webCrypto,
    module: () =>
      only(
        'crypto',
        process.getBuiltinModule('crypto'),
        {
          ...web,
          webcrypto: webCrypto,
          randomBytes,
          pseudoRandomBytes: randomBytes,
          rng: randomBytes,
          prng: randomBytes,
          randomInt: integer,
          randomFillSync: fill,
          randomFill(view: View, ...more: (number | Done<View>)[]) {
            const [offset, size] = more.filter((each) => typeof each === 'number');
            give(
              fill(view, offset, size),
              more.find((each) => typeof each === 'function'),
            );
          },
        },
        (member) => harmless.test(member),
      ),
  };
}
