import type { KeysRead } from './metadata-reads.ts';
import type { RuleReads } from './rule-reads.ts';

/**
 * A CEL expression that is true for an update that changes nothing of what rules read: `spec` (or what the kind has in its place), other
 * top-level fields that they name, and these labels and annotations. Rules then do not apply: an object that breaks a newer rule can still get and lose finalizers and be paused.
 */
export function unchangedExpression(
  contentFields: readonly string[],
  { labels, annotations, content }: RuleReads,
): string {
  return [
    ...[...contentFields, ...content].map(sameContent),
    ...sameKeys('labels', labels),
    ...sameKeys('annotations', annotations),
  ].join(' && ');
}

/** What several rules read. */
export function unionOf(all: readonly RuleReads[]): RuleReads {
  const keysOf = (name: 'labels' | 'annotations'): KeysRead =>
    all.some((each) => each[name] === 'all')
      ? 'all'
      : [...new Set(all.flatMap((each) => each[name]))].sort();
  const content = [...new Set(all.flatMap((each) => each.content))].sort();
  return { labels: keysOf('labels'), annotations: keysOf('annotations'), content };
}

/** A string literal of CEL. */
export function celString(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** Whether CEL can select a name with a dot: not `my-field`, and not `in`. As the object is a map, such names are keys. */
export function isSelectable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !reservedWords.has(name);
}

function sameContent(field: string): string {
  if (isSelectable(field)) return sameField('', field);
  const literal = celString(field);
  const isIn = (map: string) => `${literal} in ${map}`;
  return `(${isIn('object')}) == (${isIn('oldObject')}) && (!(${isIn('object')}) || object[${literal}] == oldObject[${literal}])`;
}

const reservedWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function'],
  ...['if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
]);

function sameField(parent: string, field: string): string {
  const [now, before] = [`object${parent}.${field}`, `oldObject${parent}.${field}`];
  return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`;
}

function sameKeys(name: 'labels' | 'annotations', keys: KeysRead): readonly string[] {
  if (keys !== 'all') return keys.map((key) => sameKey(name, key));
  return [name === 'labels' ? sameField('.metadata', name) : sameAnnotations];
}

function sameKey(name: string, key: string): string {
  const literal = celString(key);
  const [now, before] = [`object.metadata.${name}`, `oldObject.metadata.${name}`];
  const isIn = (map: string) => `(${isMap(map)} && ${literal} in ${map})`;
  return `${isIn(now)} == ${isIn(before)} && (!${isIn(now)} || ${now}[${literal}] == ${before}[${literal}])`;
}

/** The API server shows the labels of an update as null whose apply empties them (`labels: {}`). */
function isMap(labels: string): string {
  return `has(${labels}) && ${labels} != null`;
}

/** Homeostat's own annotations pause a resource and reconcile it: no rule is about them. */
const sameAnnotations = [
  ['object', 'oldObject'],
  ['oldObject', 'object'],
]
  .map(([one, other]) => {
    const [map, otherMap] = [`${one}.metadata.annotations`, `${other}.metadata.annotations`];
    const isSame = `k.contains('homeostat.dev/') || (${isMap(otherMap)} && k in ${otherMap} && ${otherMap}[k] == ${map}[k])`;
    return `(!(${isMap(map)}) || ${map}.all(k, ${isSame}))`;
  })
  .join(' && ');
