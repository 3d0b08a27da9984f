import { nearestName } from './nearest-name.ts';

/** The hint for a mistyped name, when a known one is near. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const nearest = nearestName(word, known);
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}
