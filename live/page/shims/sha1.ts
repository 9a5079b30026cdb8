// SHA-1, which the names of Redis scripts are made of: RFC 3174. A page that is no secure context has none of its own that answers at once.

const rotated = (word: number, by: number) => (word << by) | (word >>> (32 - by));

/** The functions and constants of the four rounds. */
const rounds: [mix: (b: number, c: number, d: number) => number, constant: number][] = [
  [(b, c, d) => (b & c) | (~b & d), 0x5a827999],
  [(b, c, d) => b ^ c ^ d, 0x6ed9eba1],
  [(b, c, d) => (b & c) | (b & d) | (c & d), 0x8f1bbcdc],
  [(b, c, d) => b ^ c ^ d, 0xca62c1d6],
];

/** The 20 bytes of the digest. */
export function sha1(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const message = new DataView(padded.buffer);
  message.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const digest = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0] as [
    number,
    number,
    number,
    number,
    number,
  ];
  const words = new Int32Array(80);
  const wordAt = (at: number) => words[at] as number;
  for (let block = 0; block < padded.length; block += 64) {
    for (let at = 0; at < 80; at += 1) {
      words[at] =
        at < 16
          ? message.getInt32(block + at * 4)
          : rotated(wordAt(at - 3) ^ wordAt(at - 8) ^ wordAt(at - 14) ^ wordAt(at - 16), 1);
    }
    let [a, b, c, d, e] = digest;
    for (let at = 0; at < 80; at += 1) {
      const [mix, constant] = rounds[Math.floor(at / 20)] as (typeof rounds)[number];
      const next = (rotated(a, 5) + mix(b, c, d) + e + constant + wordAt(at)) | 0;
      [a, b, c, d, e] = [next, a, rotated(b, 30), c, d];
    }
    [a, b, c, d, e].forEach((word, at) => {
      digest[at] = ((digest[at] as number) + word) | 0;
    });
  }
  const result = new DataView(new ArrayBuffer(20));
  digest.forEach((word, at) => {
    result.setInt32(at * 4, word);
  });
  return new Uint8Array(result.buffer);
}
