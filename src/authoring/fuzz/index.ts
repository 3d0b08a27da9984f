export { type FuzzResult, fuzz } from './fuzz.ts';
export { fuzzTarget } from './fuzz-target.ts';
export { reproductionOf } from './reproduction.ts';
