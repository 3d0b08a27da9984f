/** The known name closest to a mistyped one, or undefined when none is close enough to suggest. */
export function nearestName(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    // Names without a common letter ("a" and "b") are not similar.
    if (distance < bestDistance && distance < Math.max(word.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Damerau-Levenshtein distance (adjacent swaps count once); `limit` or more is reported as `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let twoBack: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(
        (previous[j] ?? limit) + 1,
        (row[j - 1] ?? limit) + 1,
        (previous[j - 1] ?? limit) + cost,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (twoBack[j - 2] ?? limit) + 1);
      }
      row.push(value);
    }
    twoBack = previous;
    previous = row;
  }
  return Math.min(previous[b.length] ?? limit, limit);
}

/** The hint for a mistyped name, when a known one is near. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const nearest = nearestName(word, known);
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}
