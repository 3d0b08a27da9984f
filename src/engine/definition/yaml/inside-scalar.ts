/** How a scalar is written. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded';

const white = /[ \t\r\n]/;
const escapeAtStart = /^\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S])/;
const whiteEscape =
  /^\\(?:[nt \t\r\n]|x(?:09|0[aAdD]|20)|u00(?:09|0[aAdD]|20)|U000000(?:09|0[aAdD]|20))$/;

/**
 * The file offset of one character of a scalar value.
 *
 * YAML folds and trims white space but preserves all other characters in order. So the n-th non-white-space character
 * of the value is the n-th one of the source in every style. White space is located by its distance from the
 * preceding character.
 */
export function offsetInFile(
  scalar: {
    readonly style: ScalarStyle;
    /** The scalar as written, with quotes or block header. */
    readonly raw: string;
    readonly start: number;
    readonly value: string;
  },
  offset: number,
): number {
  const visible = visibleOffsets(scalar.raw, scalar.style);
  let count = 0;
  let distance = 0;
  for (let index = 0; index < offset && index < scalar.value.length; index++) {
    if (white.test(scalar.value.charAt(index))) distance++;
    else {
      count++;
      distance = 1;
    }
  }
  const isVisible = offset < scalar.value.length && !white.test(scalar.value.charAt(offset));
  const here = visible[count];
  if (isVisible && here !== undefined) return scalar.start + here;
  const before = visible[count - 1];
  return before === undefined
    ? scalar.start + contentStart(scalar.raw, scalar.style)
    : scalar.start + before + distance;
}

function contentStart(raw: string, style: ScalarStyle): number {
  switch (style) {
    case 'plain':
      return 0;
    case 'single':
    case 'double':
      return 1;
    case 'literal':
    case 'folded':
      return raw.indexOf('\n') + 1;
  }
}

/** Offsets in `raw` of the characters (UTF-16 units) of the value that are not white space. */
function visibleOffsets(raw: string, style: ScalarStyle): readonly number[] {
  const end = style === 'single' || style === 'double' ? raw.length - 1 : raw.length;
  const offsets: number[] = [];
  let index = contentStart(raw, style);
  while (index < end) {
    if (style === 'double' && raw.charAt(index) === '\\') {
      index += pushEscape(raw, index, offsets);
      continue;
    }
    if (!white.test(raw.charAt(index))) offsets.push(index);
    index += style === 'single' && raw.startsWith("''", index) ? 2 : 1;
  }
  return offsets;
}

/** Adds the offsets of an escape sequence. Returns its length. */
function pushEscape(raw: string, index: number, offsets: number[]): number {
  const text = escapeAtStart.exec(raw.slice(index, index + 10))?.[0] ?? '\\';
  if (whiteEscape.test(text)) return text.length;
  offsets.push(index);
  if (text.startsWith('\\U') && Number.parseInt(text.slice(2), 16) > 0xffff) offsets.push(index);
  return text.length;
}
