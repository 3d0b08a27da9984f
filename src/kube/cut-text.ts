/** The longest beginning of a text that takes at most `maxBytes` bytes of UTF-8, never half a character, wherever that stands. */
export function cutText(written: string, maxBytes: number): string {
  const text = written.toWellFormed();
  // A UTF-16 unit takes at most three bytes: short texts need no encoding.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
