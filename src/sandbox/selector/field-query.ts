import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf } from '../json-fields.ts';
import { SelectorError } from './label-query.ts';

/** Returns whether an object matches. */
export type ObjectMatcher = (object: JsonObject) => boolean;

interface FieldQuery {
  readonly matches: ObjectMatcher;
  /** The only name that can match, if the query contains `metadata.name=`. */
  readonly name: string | undefined;
}

interface Term {
  readonly path: string;
  readonly value: string;
  readonly isNegated: boolean;
}

/**
 * Parses the `fieldSelector` of a query: `metadata.name=a,type!=b`.
 * @throws SelectorError for invalid syntax and for fields that the kind does not support
 */
export function parseFieldQuery(
  query: string,
  selectable: readonly string[],
  hasOwnFields = true,
): FieldQuery {
  const terms = splitTerms(query)
    .sort()
    .filter((part) => part !== '')
    .map((part) => parseTerm(query, part));
  const known = new Set(['metadata.name', 'metadata.namespace', ...selectable]);
  for (const { path } of terms)
    if (!known.has(path)) throw new SelectorError(unknownField(path, hasOwnFields));
  const name = terms.find(({ path, isNegated }) => path === 'metadata.name' && !isNegated)?.value;
  return { matches: (object) => terms.every((term) => matchesTerm(term, object)), name };
}

/** For kinds without selectable fields the message differs. */
function unknownField(path: string, hasOwnFields: boolean): string {
  if (hasOwnFields) return `field label not supported: ${path}`;
  const known = '"metadata.name", "metadata.namespace"';
  return `${JSON.stringify(path)} is not a known field selector: only ${known}`;
}

function splitTerms(query: string): readonly string[] & { sort(): string[] } {
  return query.match(/(?:\\.|[^,\\])+/g) ?? [];
}

function parseTerm(query: string, part: string): Term {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
  if (match === null)
    throw new SelectorError(`invalid selector: '${query}'; can't understand '${part}'`);
  const [, path = '', operator, value = ''] = match;
  if (value.replaceAll(/\\./g, '').includes('='))
    throw new SelectorError('invalid field selector: unescaped character in value: 61');
  return { path, isNegated: operator === '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}

function matchesTerm({ path, value, isNegated }: Term, object: JsonObject): boolean {
  return (fieldText(object, path) === value) !== isNegated;
}

function fieldText(object: JsonObject, path: string): string {
  let value: Json | undefined = object;
  for (const name of path.split('.'))
    value = isJsonObject(value) ? fieldOf(value, name) : undefined;
  return value === undefined || value === null ? '' : String(value);
}
