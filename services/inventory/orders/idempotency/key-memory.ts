/** A process's memory of keys until they expire: of limited size, dropping the oldest first. */
export function createKeyMemory<T>(mostKeys: number) {
  const known = new Map<string, { value: T; until: number }>();

  return {
    get(key: string): T | undefined {
      const one = known.get(key);
      return one !== undefined && one.until > performance.now() ? one.value : undefined;
    },
    set(key: string, value: T, keepMs: number) {
      known.delete(key);
      known.set(key, { value, until: performance.now() + keepMs });
      const [oldest] = known.keys();
      if (known.size > mostKeys && oldest !== undefined) known.delete(oldest);
    },
    forget: (key: string) => known.delete(key),
  };
}
