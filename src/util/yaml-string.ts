/** Line breaks of YAML 1.1, characters that kubectl rejects when they are not escaped, and those that change the direction of a text. */
const unusual = /[[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]\p{Bidi_Control}]/gv;

/** Whether a string must be double-quoted so that all YAML parsers read it: in blocks and without quotes, it would be another one. */
export function needsEscapes(text: string): boolean {
  // In a block, white space before the first text counts as indentation; a tab is an error to kubectl.
  return text.search(unusual) >= 0 || /^\s*(?:\t|$)/.test(text);
}

/** JSON that all parsers of YAML and JSON read alike. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(unusual, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
