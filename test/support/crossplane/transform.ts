import { createHash } from 'node:crypto';

/** A value of a manifest. */
// biome-ignore lint/suspicious/noExplicitAny: manifests of the corpus have any form
export type Any = any;

/** A transform as Crossplane documents it. @throws Error where it fails the resource */
export function transform(step: Any, input: Any): Any {
  const settings = step[step.type];
  switch (step.type) {
    case 'map':
      if (!Object.hasOwn(settings, input)) throw new Error(`no key ${input}`);
      return settings[input];
    case 'match':
      return match(settings, input);
    case 'math':
      return math(settings, input);
    case 'string':
      return text(settings, input);
    case 'convert':
      return convert(settings, input);
    default:
      throw new Error(`transform ${step.type}`);
  }
}

function match({ patterns = [], fallbackTo, fallbackValue = null }: Any, input: Any): Any {
  const found = patterns.find(({ type = 'literal', literal, regexp }: Any) =>
    type === 'literal' ? literal === input : goPattern(regexp).test(input),
  );
  if (found !== undefined) return found.result;
  return fallbackTo === 'Input' ? input : fallbackValue;
}

function goPattern(pattern: string): RegExp {
  return pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern);
}

function math({ type = 'Multiply', multiply, clampMin, clampMax }: Any, input: Any): Any {
  if (type === 'ClampMin') return Math.max(input, clampMin);
  return type === 'ClampMax' ? Math.min(input, clampMax) : input * multiply;
}

function text({ type = 'Format', ...settings }: Any, input: Any): string {
  const plain = String(input);
  switch (type) {
    case 'Format':
      return format(settings.fmt, [input]);
    case 'Convert':
      return convertText(settings.convert, input);
    case 'TrimPrefix':
      return plain.startsWith(settings.trim) ? plain.slice(settings.trim.length) : plain;
    case 'TrimSuffix':
      return plain.endsWith(settings.trim) ? plain.slice(0, -settings.trim.length) : plain;
    case 'Regexp': {
      const group = goPattern(settings.regexp.match).exec(plain)?.[settings.regexp.group ?? 0];
      if (group === undefined) throw new Error('no match');
      return group;
    }
    case 'Join':
      return input.join(settings.join.separator);
    case 'Replace':
      return plain.split(settings.replace.search).join(settings.replace.replace);
    default:
      throw new Error(`string ${type}`);
  }
}

function convertText(convert_: string, input: Any): string {
  const plain = String(input);
  switch (convert_) {
    case 'ToUpper':
      return plain.toUpperCase();
    case 'ToLower':
      return plain.toLowerCase();
    case 'ToBase64':
      return Buffer.from(plain).toString('base64');
    case 'FromBase64':
      return Buffer.from(plain, 'base64').toString();
    case 'ToJson':
      return JSON.stringify(sorted(input));
    default:
      return createHash(convert_.slice(2).toLowerCase()).update(plain).digest('hex');
  }
}

function sorted(value: Any): Any {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

function convert({ toType, format: how }: Any, input: Any): Any {
  if (how === 'json') return JSON.parse(input);
  if (how === 'quantity') {
    const [, number = '', unit = ''] = /^([\d.]+)(.*)$/.exec(input) ?? [];
    return Number(number) * (units[unit] ?? 1);
  }
  if (toType === 'string') return String(input);
  if (toType === 'bool')
    return typeof input === 'string'
      ? /^(?:1|t|T|true|True|TRUE)$/.test(input)
      : input === true || input === 1;
  return toType === 'float64' ? Number(input) : Math.trunc(Number(input));
}

/** The verbs of Go that compositions use. */
export function format(pattern: string, values: readonly Any[]): string {
  let next = 0;
  return pattern.replace(/%(?:\[(\d)\])?([\d.]*)([sdvtqfx%])/g, (_, index, flags, verb) => {
    if (verb === '%') return '%';
    next = index === undefined ? next + 1 : Number(index);
    const value = values[next - 1];
    if (verb === 'q') return JSON.stringify(value);
    if (verb === 'x') return Number(value).toString(16);
    if (verb === 'f') return Number(value).toFixed(flags === '' ? 6 : Number(flags.slice(1)));
    return String(value).padStart(Number(flags), flags.startsWith('0') ? '0' : ' ');
  });
}
