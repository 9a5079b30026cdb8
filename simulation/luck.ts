// `Math.random()` in the simulation: a sequence of numbers that is always the same.

/**
 * Gives the next number of the row, from 0 to 1. A constant would not do: those who wait for a random time would go in step for ever.
 * A linear congruential generator, with the factors of Numerical Recipes.
 */
export function createLuck(seed = 1) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
