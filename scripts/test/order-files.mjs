import { readFileSync } from 'node:fs';

/** What costs more than the size of a file shows: the costliest first. */
const costs = [
  // Processes and threads, in real time.
  /\b(?:DevProcess|HomeostatProcess|runCli|runIn|spawn(?:Sync)?)\(|support\/(?:pages|recipes)|#cli\/commands\/(?:test|fuzz)\.ts/,
  // Random histories.
  /[sS]eeds?\b|fast-check|[a-z]Runs\b/,
];

/** The costliest first, then the largest: only how long the last process works alone depends on it. */
export function costliestFirst(files) {
  const keyed = files.map((file) => ({ file, ...costOf(file) }));
  return keyed.sort((a, b) => a.kind - b.kind || b.size - a.size).map(({ file }) => file);
}

function costOf(file) {
  const text = readFileSync(file, 'utf8');
  const kind = costs.findIndex((pattern) => pattern.test(text));
  return { kind: kind === -1 ? costs.length : kind, size: text.length };
}

/** Another order for each seed, the same order for the same seed. */
export function shuffle(files, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const keyed = files.map((file) => ({ file, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ file }) => file);
}
