import { Lexer } from 'yaml';

/** Why a file is not parsed. */
interface UnreadableText {
  readonly message: string;
  readonly hint: string;
  /** Position of the invalid character, or where the limit is exceeded. */
  readonly offset: number;
}

const hint = 'Split it into several files';

/** The size limit of a ConfigMap. */
const maxCharacters = 1024 * 1024;
/** About 60,000 lines of fields; the longest published CRDs have 20,000. */
const maxTokens = 450_000;

/** Marker tokens of the lexer, which are not part of the text. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/**
 * Checks the size limits of a definition file. Parsing input within the limits takes at most two seconds. Parsing
 * blocks the process, including the renewal of its Lease.
 */
export function findTextLimitViolation(text: string): UnreadableText | undefined {
  if (text.length > maxCharacters) {
    const message = `Expected at most ${maxCharacters} characters in a file, found "${text.length}"`;
    return { message, hint, offset: maxCharacters };
  }
  // Of most files this is certain without the lexer, which takes a fifth of the time of parsing: a character is part of at most four tokens.
  const brackets = text.match(/[[\]{}]/g)?.length ?? 0;
  if (text.length < maxTokens / 4 && brackets <= maxNesting) return undefined;
  let tokens = 0;
  let offset = 0;
  let open = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > maxTokens) {
      const message = `Expected at most ${maxTokens} YAML tokens in a file, found more`;
      return { message, hint, offset };
    }
    if (token === '[' || token === '{') open++;
    else if (token === ']' || token === '}') open--;
    if (Math.abs(open) > maxNesting) {
      const kind = open > 0 ? 'opening' : 'closing';
      const message = `Expected at most ${maxNesting} nested brackets, found more ${kind} brackets`;
      return { message, hint: 'Write fewer levels of lists and maps', offset };
    }
    if (!marks.has(token)) offset += token.length;
  }
  return undefined;
}

/**
 * Maximum nesting. Deeper input is not written by hand, and recursive functions would overflow the stack: the checks of the format do at
 * 400 levels of schemas, when the stack is empty.
 */
export const maxNesting = 250;

/** Whether lists and maps are nested deeper than {@link maxNesting}. Works for any depth. */
export function isNestedTooDeep(value: unknown): boolean {
  let level = containersOf([value]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxNesting) return true;
    level = containersOf(level.flatMap((each) => Object.values(each)));
  }
  return false;
}

function containersOf(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}

/** A zero byte (common in UTF-16) or the replacement character for invalid UTF-8. */
const notUtf8 = /[\0\ufffd]/;
/** Control characters except tabs, line breaks and those that YAML allows. */
const control = /[\p{Cc}--[\t\n\r\u007f-\u009f]]/v;

/** Detects input that is not UTF-8 text: UTF-16, Latin-1 or binary files. */
export function findBinaryContent(text: string): UnreadableText | undefined {
  const bytes = notUtf8.exec(text);
  if (bytes !== null) {
    const found = bytes[0] === '\0' ? 'a zero byte (U+0000)' : 'invalid bytes (U+FFFD)';
    const message = `Expected text in UTF-8, found ${found}`;
    return { message, hint: 'Save the file as UTF-8', offset: bytes.index };
  }
  const match = control.exec(text);
  if (match === null) return undefined;
  const code = match[0].charCodeAt(0).toString(16).padStart(4, '0');
  return {
    message: `Expected text, found the control character U+${code.toUpperCase()}`,
    hint: `Write it as "\\u${code}" in a double-quoted string`,
    offset: match.index,
  };
}
