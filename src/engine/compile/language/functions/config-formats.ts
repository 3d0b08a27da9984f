import { stringify } from 'smol-toml';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { Meter } from '../meter.ts';
import { plainResult, roundedNumber } from '../plain-json.ts';
import { characterSteps, textSteps, walkSteps } from '../step-costs.ts';
import { invalidArgument, mapArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';

/** Formats of configuration files. Keys are sorted and fields that are `null` are left out, so equal values give equal text. */
export const configFormatFunctions: readonly LanguageFunction[] = [
  {
    name: 'toIni',
    params: ['map'],
    returns: 'string',
    doc: 'The map as an INI file: maps are sections, and a list is a line for each element',
    example: {
      source: '$toIni({ "debug": true, "server": { "port": spec.ports } })',
      gives: 'debug = true\n\n[server]\nport = 80\nport = 443\n',
    },
    run: ([map], { meter }) => toIni(printable('toIni', map, meter)),
  },
  {
    name: 'toProperties',
    params: ['map'],
    returns: 'string',
    doc: 'The map as a file of Java properties: names of nested fields are joined by ".", elements of lists by ","',
    example: {
      source: '$toProperties({ "server": { "port": 80 }, "hosts": ["a", "b"] })',
      gives: 'hosts=a,b\nserver.port=80\n',
    },
    run: ([map], { meter }) => toProperties(printable('toProperties', map, meter), meter),
  },
  {
    name: 'toToml',
    params: ['map'],
    returns: 'string',
    doc: 'The map as TOML',
    example: {
      source: '$toToml({ "title": "a", "server": { "ports": spec.ports } })',
      gives: 'title = "a"\n\n[server]\nports = [ 80, 443 ]\n',
    },
    run: ([map], { meter }) => stringify(sortedWithoutNulls(printable('toToml', map, meter))),
  },
];

/** Printers inspect every character of a string. */
const stepsPerNode = 6;

/** A plain copy of a map to print; charges the meter. */
function printable(name: string, value: unknown, meter: Meter): JsonObject {
  const map = mapArgument(name, value);
  meter.spend(stepsPerNode * walkSteps(map, meter.stepsLeft));
  return plainResult(map, meter) as JsonObject;
}

type Entry = readonly [key: string, value: unknown];

/** The fields in the order of their names, without those that are `null`. */
function entriesOf(map: JsonObject): readonly Entry[] {
  return Object.entries(map)
    .filter(([, value]) => value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function toIni(map: JsonObject): string {
  const entries = entriesOf(map);
  const lines = entries.filter(([, value]) => !isJsonObject(value)).flatMap(iniLines);
  const parts = entries.flatMap(([name, value]) => {
    if (!isJsonObject(value)) return [];
    return `[${iniName(name, /[\]]/)}]\n${entriesOf(value).flatMap(iniLines).join('')}`;
  });
  if (lines.length > 0) parts.unshift(lines.join(''));
  return parts.join('\n');
}

function iniLines([key, value]: Entry): readonly string[] {
  const name = iniName(key, /[=:]|^\[/);
  const values = Array.isArray(value) ? value.filter((each) => each !== null) : [value];
  return values.map((each) => `${name} = ${withoutBreaks('toIni', scalarText('toIni', each))}\n`);
}

/** A comment, a delimiter or white space at an end would change what a parser reads. */
function iniName(name: string, delimiters: RegExp): string {
  const isSafe = name !== '' && name.trim() === name && !/^[;#]/.test(name);
  if (isSafe && !delimiters.test(name)) return withoutBreaks('toIni', name);
  throw invalidArgument('toIni', 'a map with names that INI can hold');
}

/** A value with a line break could add keys of its own. */
function withoutBreaks(name: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!/[\u0000\n\r\u0085\u2028\u2029]/.test(text)) return text;
  throw invalidArgument(name, 'names and values without line breaks');
}

function toProperties(map: JsonObject, meter: Meter): string {
  const lines = new Map<string, string>();
  collectProperties({ map, prefix: '', lines, meter });
  return [...lines.keys()]
    .sort()
    .map((key) => `${escapedKey(key, meter)}=${lines.get(key)}\n`)
    .join('');
}

interface PropertiesOptions {
  readonly map: JsonObject;
  readonly prefix: string;
  readonly lines: Map<string, string>;
  readonly meter: Meter;
}

function collectProperties({ map, prefix, lines, meter }: PropertiesOptions): void {
  for (const [name, value] of entriesOf(map)) {
    const key = prefix + name;
    // The names of outer maps are part of each name.
    meter.spend(textSteps(key));
    if (isJsonObject(value)) {
      collectProperties({ map: value, prefix: `${key}.`, lines, meter });
      continue;
    }
    if (lines.has(key)) {
      throw invalidArgument('toProperties', 'a map whose joined names are different');
    }
    lines.set(key, escapedValue(propertyText(value), meter));
  }
}

function propertyText(value: unknown): string {
  if (!Array.isArray(value)) return scalarText('toProperties', value);
  const present = value.filter((each) => each !== null);
  return present.map((each) => scalarText('toProperties', each)).join(',');
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
};

/** In ASCII: older versions of Java read ISO 8859-1. */
function escapedValue(text: string, meter: Meter): string {
  if (!/[^ -[\]-~]|^ /.test(text)) return text;
  meter.spend(text.length);
  return text
    .replace(/[\\\n\r\t\f]/g, (character) => escapes[character] ?? character)
    .replace(/[^ -~]/g, codeOf)
    .replace(/^ /, '\\ ');
}

function escapedKey(text: string, meter: Meter): string {
  meter.spend(characterSteps(text));
  return escapedValue(text, meter).replace(
    /(?<!^\\)[ ]|[=:]|^[#!]/g,
    (character) => `\\${character}`,
  );
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function scalarText(name: string, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return String(roundedNumber(value));
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      throw invalidArgument(name, 'strings, numbers, booleans and lists of these as values');
  }
}

function sortedWithoutNulls(map: JsonObject): Record<string, unknown> {
  return Object.fromEntries(entriesOf(map).map(([key, value]) => [key, sortedValue(value)]));
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedElement);
  if (isJsonObject(value)) return sortedWithoutNulls(value);
  return typeof value === 'number' ? roundedNumber(value) : value;
}

/** TOML has no `null`, and without it, other elements would change their places. */
function sortedElement(value: unknown): unknown {
  if (value === null) throw invalidArgument('toToml', 'a map without null in its lists');
  return sortedValue(value);
}
