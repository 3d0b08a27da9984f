import type { LeafProblem } from './leaf.ts';
import { limits } from './limits.ts';
import type { Token } from './tokens.ts';

/** What must be refused before JSONata's parser sees it: it recurses, and doubles its work at some operators. */
export function sourceProblem(source: string, tokens: readonly Token[]): LeafProblem | undefined {
  if (source.length > limits.sourceLength) {
    return tooComplex(`Expected an expression of at most ${limits.sourceLength} characters`, 0);
  }
  let depth = 0;
  let repeated = 0;
  for (const [index, { text, start }] of tokens.entries()) {
    if ('([{'.includes(text)) depth++;
    if (')]}'.includes(text)) depth--;
    if (depth > limits.sourceDepth) {
      return tooComplex(`Expected brackets at most ${limits.sourceDepth} deep`, start);
    }
    const isDefault = text === '??' || text === '?:';
    if (isDefault && /[)\]}]/.test(tokens[index - 1]?.text ?? '')) repeated++;
    if (repeated > limits.repeatedDefaults) {
      return tooComplex(
        `Expected at most ${limits.repeatedDefaults} "${text}" behind closing brackets`,
        start,
      );
    }
  }
  return undefined;
}

function tooComplex(message: string, offset: number): LeafProblem {
  return {
    severity: 'error',
    code: 'forbidden-expression',
    message,
    hint: 'Divide it with "vars"',
    offset,
  };
}
