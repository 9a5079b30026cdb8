// Report · busy
// Problem: the sales must be added up, and a node has one thread for all of its jobs and requests.
// Change:  a loop adds up until it is done.
// Leaves:  the loop comes to no await, so no other job and no request has its turn before the end.

export async function report(forMs: number) {
  const end = performance.now() + forMs;
  let sum = 0;
  while (performance.now() < end) sum += 1;
  return sum;
}
