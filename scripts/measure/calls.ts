import { withoutComments } from './footprint.ts';
import type { SourceFile } from './source-size.ts';

const rooms = /^(?:controller|reconcile|runtime)\//;
const enqueueCall = /\benqueue(?:All)?\(/g;
const timerCall = /\bclock\.(?:after|sleep)\(/g;
/** `enqueue(key: string): void {` declares; it does not call. */
const declaration = /\benqueue(?:All)?\([^)]*\)\s*(?::\s*\w+\s*)?\{/g;

/** Where the engine decides that something runs again: calls that enqueue a key, and timers. */
export function runAgainCalls(sources: readonly SourceFile[]): {
  readonly enqueues: number;
  readonly timers: number;
} {
  const texts = sources
    .filter(({ path }) => rooms.test(path))
    .map(({ text }) => withoutComments(text));
  const count = (pattern: RegExp) =>
    texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  return { enqueues: count(enqueueCall) - count(declaration), timers: count(timerCall) };
}
