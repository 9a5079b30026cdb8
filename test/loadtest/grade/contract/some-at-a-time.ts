/** Returns what runs a job as soon as fewer than `atATime` others run, and resolves as the job does. */
export function someAtATime(atATime: number): <Found>(job: () => Promise<Found>) => Promise<Found> {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (job) => {
    if (running >= atATime) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await job();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
