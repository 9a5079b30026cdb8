// What many are sent is made once: as it is, and compressed in blocks that need nothing of each other.

import { constants, deflateRawSync } from 'node:zlib';

/** How a gzip stream begins: compressed by deflate, without a name or a time. One that is never complete has no end. */
export const gzipBeginning = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

export type Bytes = (isPacked: boolean) => Buffer;

/**
 * The bytes of a text, each form made when it is first asked for. Packed it is a part of a gzip stream that may come after any
 * other one: it refers to nothing before it, ends at the end of a byte, and is not the last one (RFC 1951, 3.2.3).
 */
export function bytesOf(text: string): Bytes {
  let plain: Buffer | undefined;
  let packed: Buffer | undefined;
  return (isPacked) => {
    if (isPacked) packed ??= deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
    else plain ??= Buffer.from(text);
    return (isPacked ? packed : plain) as Buffer;
  };
}
