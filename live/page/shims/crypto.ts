// node:crypto in the page: the hash that names scripts.

import { PageBuffer } from './buffer.ts';
import { sha1 } from './sha1.ts';

export function createHash(algorithm: string) {
  if (algorithm !== 'sha1') throw new Error(`The page has no ${algorithm}.`);
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
