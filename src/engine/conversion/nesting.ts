import { isDeeperThan } from '#util/json.ts';

/**
 * How deep the value of an open field may be nested. A deeper one does not fit into another version: API servers accept objects of 10,000 levels,
 * but neither they nor recursive functions could read the review around it.
 */
export const mostLevels = 500;

export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(value, mostLevels);
}
