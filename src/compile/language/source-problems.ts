import type { LeafProblem } from './leaf.ts';
import { limits } from './limits.ts';
import type { Token } from './tokens.ts';

/** What must be refused before JSONata's parser sees it: it recurses, and doubles its work at some operators. */
export function sourceProblem(source: string, tokens: readonly Token[]): LeafProblem | undefined {
  if (source.length > limits.sourceLength) {
    return tooComplex(`Expected an expression of at most ${limits.sourceLength} characters`, 0);
  }
  const levels: Level[] = [{ behind: 0, deepest: 0 }];
  for (const { text, start } of tokens) {
    const level = levels.at(-1);
    if (level === undefined) return undefined;
    if ('([{'.includes(text)) {
      levels.push({ behind: 0, deepest: 0 });
      if (levels.length > limits.sourceDepth) {
        return tooComplex(`Expected brackets at most ${limits.sourceDepth} deep`, start);
      }
    } else if (')]}'.includes(text)) {
      levels.pop();
      const outer = levels.at(-1);
      if (outer !== undefined) outer.behind = Math.max(outer.behind, level.behind, level.deepest);
    } else if (text === '??' || text === '?:') {
      if (level.behind >= limits.nestedDefaults) {
        return tooComplex(
          `Expected "${text}" at most ${limits.nestedDefaults} deep in what stands left of it`,
          start,
        );
      }
      level.deepest = Math.max(level.deepest, level.behind + 1);
      level.behind = 0;
    } else if (',;:'.includes(text)) {
      level.deepest = Math.max(level.deepest, level.behind);
      level.behind = 0;
    }
  }
  return undefined;
}

/** A pair of brackets that is open. What stands left of `??` and `?:` is parsed twice, so these double with each level. */
interface Level {
  /** How deep they are nested in the brackets closed since the last operator or separator. */
  behind: number;
  /** How deep they are nested in this level. */
  deepest: number;
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
