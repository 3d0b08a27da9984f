/** A character that no YAML or JSON text holds, and what to do about it. */
export interface ForeignCharacter {
  readonly message: string;
  readonly hint: string;
  readonly offset: number;
}

/** A byte that is zero, as UTF-16 is full of them, and what stands for bytes that could not be read as UTF-8. */
const notUtf8 = /[\0\ufffd]/;
/** But for tabs and ends of lines, and for those that YAML allows. */
const control = /[\p{Cc}--[\t\n\r\u007f-\u009f]]/v;

/** Looks whether that is a text at all: what was saved in UTF-16 or Latin-1 is not read as one, nor is a program. */
export function findForeign(text: string): ForeignCharacter | undefined {
  const bytes = notUtf8.exec(text);
  if (bytes !== null) {
    const found =
      bytes[0] === '\0' ? 'a byte that is zero (U+0000)' : 'bytes that are none (U+FFFD)';
    const message = `Expected text in UTF-8, found ${found}`;
    return { message, hint: 'Save the file in UTF-8', offset: bytes.index };
  }
  const match = control.exec(text);
  if (match === null) return undefined;
  const code = match[0].charCodeAt(0).toString(16).padStart(4, '0');
  return {
    message: `Expected text, found the control character U+${code.toUpperCase()}`,
    hint: `In double quotes it is written "\\u${code}"`,
    offset: match.index,
  };
}
