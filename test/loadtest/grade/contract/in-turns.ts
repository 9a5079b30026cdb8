/** Runs the jobs, so many at a time, from the first call on. Returns what waits for the job of a name. */
export function inTurns<Job extends { name: string }, Found>(
  atATime: number,
  jobs: Job[],
  run: (job: Job) => Promise<Found>,
): (name: string) => Promise<Found> {
  const found = new Map<string, PromiseWithResolvers<Found>>();
  let isRunning = false;

  function start() {
    isRunning = true;
    for (const { name } of jobs) found.set(name, withResolvers());
    const queue = [...jobs];
    const work = async () => {
      for (let job = queue.shift(); job; job = queue.shift()) {
        const { resolve, reject } = found.get(job.name) as PromiseWithResolvers<Found>;
        await run(job).then(resolve, reject);
      }
    };
    for (let worker = 0; worker < atATime; worker += 1) void work();
  }

  return async (name) => {
    if (!isRunning) start();
    const job = found.get(name);
    if (job === undefined) throw new Error(`There is no job ${name}.`);
    return job.promise;
  };
}

interface PromiseWithResolvers<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  // Its test may come later.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
