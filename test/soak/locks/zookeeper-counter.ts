// Sets the counter of a ZooKeeper folder in the snapshot of a server that is down: no request can, and 2^31 sales take weeks.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends each part of a snapshot, after the Adler-32 checksum (8 bytes) of all that comes before it. */
const SEAL = Buffer.from([0, 0, 0, 1, '/'.charCodeAt(0)]);
/** What stands between the data of a node and its counter: the ACL, two zxids, two times, the version of the data. */
const BEFORE_COUNTER = 8 + 8 + 8 + 8 + 8 + 4;

/** The server must have been started with the folder in it, and have ended. Throws when the snapshot is not as it should be. */
export function setCounter(dataDir: string, folder: string, count: number) {
  const snapshots = join(dataDir, 'version-2');
  const latest = readdirSync(snapshots)
    .filter((name) => name.startsWith('snapshot.'))
    .toSorted((a, b) => zxidOf(a) - zxidOf(b))
    .at(-1);
  const file = join(snapshots, latest ?? '');
  const bytes = readFileSync(file);
  const seals = sealsOf(bytes);
  const path = Buffer.concat([int(folder.length), Buffer.from(folder)]);
  const data = bytes.indexOf(path) + path.length;
  if (data < path.length || seals.length === 0)
    throw new Error(`There is no ${folder} in ${file}, or it is not sealed.`);

  bytes.writeInt32BE(count, data + 4 + Math.max(0, bytes.readInt32BE(data)) + BEFORE_COUNTER);
  for (const seal of seals) bytes.writeBigUInt64BE(adler32(bytes.subarray(0, seal)), seal);
  writeFileSync(file, bytes);
}

/** Where the checksums stand. */
function sealsOf(bytes: Buffer) {
  const seals = [];
  for (let at = bytes.indexOf(SEAL) - 8; at >= 0; at = bytes.indexOf(SEAL, at + 9) - 8) {
    if (bytes.readBigUInt64BE(at) === adler32(bytes.subarray(0, at))) seals.push(at);
  }
  return seals;
}

/** Source: RFC 1950. */
function adler32(bytes: Buffer) {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return BigInt(high * 65_536 + low);
}

const zxidOf = (snapshot: string) => Number.parseInt(snapshot.slice('snapshot.'.length), 16);

function int(value: number) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
