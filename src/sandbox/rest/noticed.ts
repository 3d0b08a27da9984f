import { StatusError } from '../status/index.ts';
import type { RestAnswer } from './rest-context.ts';

/** An answer with warnings of what was noticed before it was made; they are said with a refusal, too. */
export function answerNoticing(warnings: readonly string[], answer: () => RestAnswer): RestAnswer {
  try {
    const made = answer();
    return { ...made, warnings: [...warnings, ...made.warnings] };
  } catch (error) {
    throw error instanceof StatusError ? error.withWarnings(warnings) : error;
  }
}
