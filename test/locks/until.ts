/** Resolves when it is true, looking again and again. The limit of the test ends the wait. */
export async function until(isTrue: () => Promise<boolean>) {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}
