// What the page gives its worker before the first line of that runs.

interface Packed {
  /** The texts of the project's files, by their paths in it. */
  files: Record<string, string>;
  /** The inventory service, bundled for the virtual world: it defines `service`. */
  service: string;
  /** What a lock may import, for the search, in the same way. */
  imports: string;
  /** Valkey. */
  wasm: Uint8Array;
}

export const { packed } = globalThis as unknown as { packed: Packed };
// No lock finds it.
Reflect.deleteProperty(globalThis, 'packed');
