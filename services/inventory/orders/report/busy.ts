// Report · busy
// Problem: the sales must be added up, and a node has a single thread for all its jobs and requests.
// Change:  one loop adds up everything.
// Leaves:  the loop has no await, so no other job or request runs until it ends.

export async function report(forMs: number) {
  const end = performance.now() + forMs;
  let sum = 0;
  while (performance.now() < end) sum += 1;
  return sum;
}
