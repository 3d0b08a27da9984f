/** One marker of SimpleSchema: `default=1`. */
export interface Marker {
  readonly key: string;
  readonly value: string;
  /** Offset of the key in the text of the field. */
  readonly offset: number;
}

export interface FieldText {
  /** `[]string` */
  readonly type: string;
  readonly markers: readonly Marker[];
  /** What cannot be read. */
  readonly problem?: { readonly message: string; readonly offset: number };
}

/** Reads a field of SimpleSchema: `integer | default=1 minimum=0`. */
export function readField(text: string): FieldText {
  const bar = text.indexOf('|');
  if (bar < 0) return { type: text.trim(), markers: [] };
  const type = text.slice(0, bar).trim();
  const markers: Marker[] = [];
  let at = bar + 1;
  for (;;) {
    at = skip(text, at, /[\s|]/);
    if (at >= text.length) return { type, markers };
    const key = /^[A-Za-z]+(?=\s*=)/.exec(text.slice(at))?.[0];
    if (key === undefined)
      return { type, markers, problem: { message: 'Expected "marker=value"', offset: at } };
    const from = skip(text, text.indexOf('=', at) + 1, /[ \t]/);
    const end = endOfValue(text, from);
    markers.push({ key, value: unquoted(text.slice(from, end)), offset: at });
    at = end;
  }
}

function skip(text: string, from: number, what: RegExp): number {
  let at = from;
  while (at < text.length && what.test(text.charAt(at))) at++;
  return at;
}

/** A value ends at white space outside of quotes and brackets. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && isQuoted) at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (/[{[]/.test(char)) depth++;
    else if (/[}\]]/.test(char)) depth--;
    else if (depth === 0 && /\s/.test(char)) return at;
  }
  return text.length;
}

/** Without quotes. A backslash is only removed before a quote or a backslash. */
function unquoted(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
