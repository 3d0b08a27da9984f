/**
 * How kubectl reads scalars: as YAML 1.1, in the variant of its library (sigs.k8s.io/yaml on go.yaml.in/yaml/v2), which is neither
 * YAML 1.1 nor 1.2 to the letter. `0400` is octal, but `0o17` is a number too, and `12:30` is a string.
 */

/** An integer beyond 2^53 is a BigInt, up to the 64 bits that the library reads: -2^63 to 2^64 - 1. */
export type KubectlScalar = string | number | bigint | boolean | null;

const words: ReadonlyMap<string, KubectlScalar> = new Map<string, KubectlScalar>([
  ...spelled(['y', 'yes', 'true', 'on'], true),
  ...spelled(['n', 'no', 'false', 'off'], false),
  ...spelled(['null'], null),
  ['', null],
  ['~', null],
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...infinities('', Number.POSITIVE_INFINITY),
  ...infinities('+', Number.POSITIVE_INFINITY),
  ...infinities('-', Number.NEGATIVE_INFINITY),
]);

/** `yes`, `Yes` and `YES`, but not `yEs`. */
function spelled<Value>(names: readonly string[], value: Value): (readonly [string, Value])[] {
  return names.flatMap((name) =>
    [name, name.charAt(0).toUpperCase() + name.slice(1), name.toUpperCase()].map(
      (word) => [word, value] as const,
    ),
  );
}

function infinities(sign: string, value: number): (readonly [string, number])[] {
  return ['.inf', '.Inf', '.INF'].map((word) => [`${sign}${word}`, value] as const);
}

/** The first character of a scalar that is not a string; all others are. */
export const mayBeNoString = /^(?:[-+.\d~yYnNtTfFoO]|$)/;

/** The value of a plain scalar. */
export function kubectlScalar(plain: string): KubectlScalar {
  if (!mayBeNoString.test(plain)) return plain;
  const word = words.get(plain);
  if (word !== undefined) return word;
  // Here only, an underscore must be between two digits.
  if (plain.startsWith('.')) return decimal(plain.replaceAll(/(?<=\d)_(?=\d)/g, '')) ?? plain;
  if (!/^[-+\d]/.test(plain)) return plain;
  const digits = plain.replaceAll('_', '');
  // The library reads a sign after "0b" too.
  return integer(digits.replace(/^0b([-+])/, '$10b')) ?? decimal(digits) ?? plain;
}

const integers = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;

/** Like `strconv.ParseInt` with base 0; what needs more than 64 bits is no integer. */
function integer(digits: string): number | bigint | undefined {
  const [matched, sign, hex, binary, octal, plain] = integers.exec(digits) ?? [];
  if (matched === undefined) return undefined;
  const size = BigInt(
    (hex && `0x${hex}`) ?? (binary && `0b${binary}`) ?? (octal && `0o${octal}`) ?? plain ?? 0,
  );
  const value = sign === '-' ? -size : size;
  const limit = sign === '' ? 2n ** 64n - 1n : 2n ** 63n - (sign === '+' ? 1n : 0n);
  if (size > limit) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function decimal(digits: string): number | undefined {
  if (!/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isFinite(value) ? value : undefined;
}

const standardTag = 'tag:yaml.org,2002:';

/** The value of a scalar with an explicit tag. Undefined: the text is no value of this type. */
export function taggedScalar(tag: string, text: string): KubectlScalar | undefined {
  const type = tag.startsWith(standardTag) ? tag.slice(standardTag.length) : '';
  const value = kubectlScalar(text);
  switch (type) {
    case 'null':
      return value === null ? null : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return integer(text.replaceAll('_', ''));
    case 'float':
      return typeof value === 'bigint' ? Number(value) : asNumber(value);
    case 'timestamp':
      return timestamp.test(text) ? text : undefined;
    case 'binary':
      return decodedBase64(text);
    default:
      return text;
  }
}

const asNumber = (value: KubectlScalar): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Tags that change how a value is read; kubectl ignores all others. */
export const isKnownTag = (tag: string): boolean =>
  tag === '!' ||
  /^tag:yaml\.org,2002:(?:null|bool|int|float|timestamp|binary|str|map|seq|merge)$/.test(tag);

const timestamp =
  /^\d{4}-\d\d?-\d\d?(?:(?:[Tt]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))|(?: \d\d?:\d\d?:\d\d?(?:\.\d+)?))?$/;

function decodedBase64(text: string): string | undefined {
  const base64 = text.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/.test(base64) || base64.includes('_'))
    return undefined;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** The name of a field with this key. Undefined: kubectl rejects it. */
export function kubectlFieldName(key: KubectlScalar, text: string): string | undefined {
  if (key === null) return undefined;
  // The library has no name for an integer of 64 bits without a sign.
  if (typeof key === 'bigint') return key < 2n ** 63n ? String(key) : undefined;
  if (typeof key !== 'number') return String(key);
  return integer(text.replaceAll('_', '')) === undefined ? floatName(key) : String(key);
}

/** Like `strconv.FormatFloat(key, 'g', -1, 32)`: the shortest digits of the number in 32 bits. */
function floatName(key: number): string {
  const single = Math.fround(key);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  if (Object.is(single, -0)) return '-0';
  const spellings = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((length) => single.toExponential(length));
  const shortest = spellings.find((each) => Math.fround(Number(each)) === single) ?? '';
  const [digits = '', power = ''] = shortest.split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(Number(shortest));
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
