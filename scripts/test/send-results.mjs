// A reporter for `node --test` that prints nothing and sends the results to the process that started it.
import { testResults } from './test-results.mjs';

// biome-ignore lint/correctness/useYield: what a reporter yields is printed.
export default async function* sendResults(events) {
  for await (const result of testResults(events)) process.send?.(result);
}
