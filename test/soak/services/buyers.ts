export interface Purchase {
  status: number;
  code: unknown;
  definite: unknown;
  stockBefore: unknown;
  startedAt: number;
  endedAt: number;
}

/** Buyers who buy at these addresses, in turns, again and again until they are stopped. */
export function startBuyers(urls: string[], count: number) {
  const purchases: Purchase[] = [];
  let isOver = false;
  const buyers = Array.from({ length: count }, async (_, at) => {
    while (!isOver) {
      const startedAt = performance.now();
      const response = await fetch(urls[at % urls.length] ?? '', { method: 'POST' });
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

/** What became of them: how each that was refused was, how long the slowest took, and between which figures the stock has fallen. */
export function accountOf(purchases: Purchase[]) {
  const refused = purchases.filter(({ status }) => status !== 200);
  const sold = purchases.filter(({ status }) => status === 200).map(({ stockBefore }) => stockBefore);
  const inDoubt = refused.filter(({ definite }) => definite === false).length;
  return {
    refusals: [...new Set(refused.map(({ status, code }) => `${status} ${code}`))],
    slowestMs: Math.max(...purchases.map(({ startedAt, endedAt }) => endedAt - startedAt)),
    /** No unit was sold twice. */
    isEachOnce: new Set(sold).size === sold.length,
    explains: (drop: number) => drop >= sold.length && drop <= sold.length + inDoubt,
  };
}
