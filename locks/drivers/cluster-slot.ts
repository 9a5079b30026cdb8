// The cluster slot of a key: which part of a Redis Cluster holds it.

const SLOTS = 16_384;

/**
 * The cluster slot of a key or channel, from 0 to 16383. Only what stands between the first braces counts.
 * Source: Redis Cluster specification, hash tags and appendix A, CRC16 (XMODEM).
 */
export function clusterSlotOf(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc % SLOTS;
}
