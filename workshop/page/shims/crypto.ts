// node:crypto in the page: the hash of Lua scripts.

import { sha1 } from '@noble/hashes/legacy.js';
import { PageBuffer } from './buffer.ts';

export function createHash(algorithm: string) {
  if (algorithm !== 'sha1') throw new Error(`The page does not support ${algorithm}.`);
  const parts: Uint8Array[] = [];
  const hash = {
    update(part: string | Uint8Array) {
      parts.push(PageBuffer.from(part));
      return hash;
    },
    digest(encoding?: 'hex') {
      const digest = PageBuffer.from(sha1(PageBuffer.concat(parts)));
      return encoding === undefined ? digest : digest.toString(encoding);
    },
  };
  return hash;
}

export const randomUUID = () => crypto.randomUUID();
