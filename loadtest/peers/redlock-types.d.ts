// The package has types that its list of exports does not name, so that they cannot be imported: what its adapter uses.

declare module 'redlock' {
  import type { Redis } from 'ioredis';

  interface Settings {
    retryCount: number;
    automaticExtensionThreshold: number;
  }

  export default class Redlock {
    constructor(clients: Redis[], settings?: Partial<Settings>);
    using<T>(
      resources: string[],
      durationMs: number,
      settings: Partial<Settings>,
      routine: (lost: AbortSignal) => Promise<T>,
    ): Promise<T>;
  }
}
