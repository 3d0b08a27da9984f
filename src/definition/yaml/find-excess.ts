import { Lexer } from 'yaml';
import { mostNested } from './nesting.ts';

/** A text that would take too long to read. */
export interface Excess {
  readonly message: string;
  /** Where it becomes too much. */
  readonly offset: number;
}

/** As much as a ConfigMap can hold. */
const mostCharacters = 1024 * 1024;
/** Some 60,000 lines of fields: the longest CRDs that people paste have 20,000. */
const mostTokens = 450_000;

/** What the lexer puts before documents and texts, and where brackets end too early. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/**
 * Looks whether a text is more than one definition file can need. What passes is read in a second or two, whatever it says;
 * the process does nothing else meanwhile, not even renew its Lease.
 */
export function findExcess(text: string): Excess | undefined {
  if (text.length > mostCharacters) {
    const message = `Expected at most ${mostCharacters} characters in a file, found "${text.length}"`;
    return { message, offset: mostCharacters };
  }
  let tokens = 0;
  let offset = 0;
  let open = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > mostTokens) {
      const message = `Expected at most ${mostTokens} words and signs of YAML in a file, found more`;
      return { message, offset };
    }
    if (token === '[' || token === '{') open++;
    else if (token === ']' || token === '}') open--;
    if (Math.abs(open) > mostNested) {
      const way = open > 0 ? 'opened' : 'closed';
      const message = `Expected at most ${mostNested} brackets inside each other, found more that are ${way}`;
      return { message, offset };
    }
    if (!marks.has(token)) offset += token.length;
  }
  return undefined;
}
