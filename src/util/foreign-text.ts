/** Control, format and bidi characters, other separators of lines, and halves of characters. Not tabs, line feeds, and what joins letters. */
const unprintable = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A text that others have written, for a status, a message or a log: without characters that change a terminal, and with
 * at most `maxLength` UTF-16 units (at least 2). A longer text loses its middle: its end may say what it is about. Pure.
 */
export function foreignText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return withoutUnprintable(text);
  const head = Math.ceil((maxLength - 1) / 2);
  const tail = maxLength - 1 - head;
  return withoutUnprintable(`${text.slice(0, head)}…${text.slice(text.length - tail)}`);
}

/** The UID of an object: a UUID, or another text of its characters. Undefined: it is none. Pure. */
export function uidIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f-]{1,64}$/.test(value) ? value : undefined;
}

function withoutUnprintable(text: string): string {
  return text.replace(unprintable, '\ufffd');
}
