export interface Purchase {
  status: number;
  code: unknown;
  definite: unknown;
  stockBefore: unknown;
  startedAt: number;
  endedAt: number;
}

/** Buyers who buy through nginx again and again until they are stopped. */
export function startBuyers(url: string, count: number) {
  const purchases: Purchase[] = [];
  let isOver = false;
  const buyers = Array.from({ length: count }, async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const response = await fetch(`${url}/inventory/sale`, { method: 'POST' });
      const { code, definite, stockBefore } = (await response.json()) as Record<string, unknown>;
      purchases.push({ status: response.status, code, definite, stockBefore, startedAt, endedAt: performance.now() });
    }
  });
  return {
    purchases,
    hasSoldSince: (at: number) => purchases.some(({ status, startedAt }) => status === 200 && startedAt > at),
    async stop() {
      isOver = true;
      await Promise.all(buyers);
    },
  };
}
