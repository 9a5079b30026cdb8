// The part of Node's Buffer that the simulation uses.

type Encoding = 'utf8' | 'latin1' | 'hex';

export class PageBuffer extends Uint8Array {
  static alloc = (size: number) => new PageBuffer(size);

  /** A view of an ArrayBuffer, but a copy of anything else. */
  static override from(source: unknown, encoding: unknown = 'utf8'): PageBuffer {
    if (source instanceof ArrayBuffer) return new PageBuffer(source);
    if (typeof source !== 'string') return new PageBuffer(source as ArrayLike<number>);
    if (encoding === 'utf8') return new PageBuffer(new TextEncoder().encode(source));
    const bytes = new PageBuffer(source.length);
    for (let at = 0; at < source.length; at += 1) bytes[at] = source.charCodeAt(at);
    return bytes;
  }

  static concat(parts: Uint8Array[]): PageBuffer {
    const whole = new PageBuffer(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  static byteLength = (text: string) => new TextEncoder().encode(text).length;

  copy(target: Uint8Array, at: number, from: number, until: number) {
    target.set(this.subarray(from, until), at);
  }

  readUInt32LE = (at: number) => new DataView(this.buffer, this.byteOffset).getUint32(at, true);
  writeUInt32LE = (value: number, at: number) => new DataView(this.buffer, this.byteOffset).setUint32(at, value, true);

  override toString(encoding: Encoding = 'utf8'): string {
    if (encoding === 'utf8') return new TextDecoder().decode(this);
    if (encoding === 'hex') return [...this].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    let text = '';
    for (let at = 0; at < this.length; at += 4_096) text += String.fromCharCode(...this.subarray(at, at + 4_096));
    return text;
  }
}
