/** What a terminal acts on, or what changes the order or the lines of a text. Without the line breaks and tabs of the text itself. */
const acting = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\t\n]]/gv;
const lineBreaks = /\s*[\n\u2028\u2029]\s*/g;
/** Codes of colors, as commands of Homeostat print them. */
const colorCode = new RegExp(`(${String.fromCharCode(27)}\\[(?:0|1|2|3[1-6]|39)m)`);

/**
 * A text with escapes (`\u001b`) in place of control characters (C0, C1) and of those that change its direction. In JSON and in double-quoted
 * YAML, it is the same value. Escaping it again changes nothing.
 */
export function printable(text: string): string {
  return text.replaceAll(acting, escaped);
}

/** As {@link printable}, as one line: a line break is a space. For cells of tables, and for lines that begin with other text. */
export function printableLine(text: string): string {
  return printable(text.trim().replaceAll(lineBreaks, ' ').replaceAll('\t', ' '));
}

/** As {@link printable}, but codes of colors stay. For texts whose parts are printable already. */
export function printableWithColors(text: string): string {
  return text
    .split(colorCode)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join('');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
