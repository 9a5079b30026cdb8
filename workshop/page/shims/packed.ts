// What the page passes to its worker before the worker's first line runs.

interface Packed {
  /** The texts of the project's files, by path. */
  files: Record<string, string>;
  /** The inventory service, bundled for the simulation: it defines `service`. */
  service: string;
  /** What a lock may import, for the model checker, in the same form. */
  imports: string;
  /** Valkey. */
  wasm: Uint8Array;
}

export const { packed } = globalThis as unknown as { packed: Packed };
// No lock finds it.
Reflect.deleteProperty(globalThis, 'packed');
