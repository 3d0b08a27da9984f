import type { Random } from '#util/random.ts';

/** Random numbers that are the same for the same seed (mulberry32). For simulations, never for secrets of a cluster. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const character = (alphabet: string) => alphabet.charAt(Math.floor(fraction() * alphabet.length));
  return {
    fraction,
    text: (length, alphabet) => Array.from({ length }, () => character(alphabet)).join(''),
  };
}
