/** What a test waits for: it is looked at again whenever there is news, and at no other time. */
export function createNews() {
  const waiters = new Set<() => void>();
  return {
    tell() {
      for (const look of waiters) look();
    },
    until: (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!isSo()) return;
          waiters.delete(look);
          resolve();
        };
        waiters.add(look);
        look();
      }),
  };
}
export type News = ReturnType<typeof createNews>;
