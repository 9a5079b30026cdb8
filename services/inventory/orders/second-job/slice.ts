/** A small part of the computing: less than a millisecond. */
export function addUpSlice() {
  let sum = 0;
  for (let amount = 0; amount < 10_000; amount += 1) sum += amount;
  return sum;
}
