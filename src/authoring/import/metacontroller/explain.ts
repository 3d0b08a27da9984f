import { deepEqual } from '#util/deep-equal.ts';
import { escapedPattern } from '#util/escaped-pattern.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { atom } from '../cel/cel-context.ts';
import { step } from '../cel/jsonata.ts';
import { hasFreeKeys, isReference } from '../convert/text-role.ts';
import { expressionText, literalText, type Part, templateText } from '../template-text.ts';

/** Expressions with the values that they have for one parent. */
export type Scope = ReadonlyMap<string, Json>;

/** A value that a hook has answered, and what it could be computed from. Undefined: the answer does not have it. */
export interface Observation {
  readonly value: Json | undefined;
  readonly scope: Scope;
}

/** The fields below a value as expressions. */
export function scopeOf(expression: string, value: Json | undefined): readonly [string, Json][] {
  if (value === undefined || value === null) return [];
  const below = Array.isArray(value)
    ? value.flatMap((item: Json, index) => scopeOf(`${expression}[${index}]`, item))
    : isJsonObject(value)
      ? Object.entries(value).flatMap(([key, each]) => scopeOf(`${expression}.${step(key)}`, each))
      : [];
  return [[expression, value], ...below];
}

/** Finds templates that give the observed values. */
export class Explainer {
  /** Expressions that are in the templates. */
  readonly used = new Set<string>();
  /** Paths of values that differ between the answers for no visible reason. */
  readonly unexplained: string[] = [];

  /** A template for the values, as far as there is one. */
  explain(observations: readonly Observation[], path: readonly string[] = []): Json | undefined {
    const [first] = observations;
    if (first === undefined) return undefined;
    const expression = this.expression(observations, path);
    if (expression !== undefined) return this.use(expression);
    const values = observations.map(({ value }) => value);
    if (values.every((each) => typeof each === 'string')) return this.#text(observations, path);
    if (values.every(isJsonObject)) return this.#map(observations, path);
    if (
      values.every(
        (each) => Array.isArray(each) && each.length === (first.value as readonly Json[]).length,
      )
    )
      return (first.value as readonly Json[]).map((_, index) => {
        const items = observations.map(({ value, scope }) => ({
          scope,
          value: (value as readonly Json[])[index],
        }));
        return this.explain(items, [...path, '[]']) ?? null;
      });
    if (values.some((each) => !deepEqual(each, first.value))) this.unexplained.push(path.join('.'));
    return first.value;
  }

  /** The template of an expression. */
  use(expression: string): string {
    this.used.add(expression);
    return expressionText(expression);
  }

  #map(observations: readonly Observation[], path: readonly string[]): JsonObject {
    const computed = this.#computedKeys(observations, path);
    const keys = new Set(observations.flatMap(({ value }) => Object.keys(value as JsonObject)));
    const own = [...keys].filter((key) => !computed.some(({ names }) => names.includes(key)));
    const fields = own.map((key) => {
      const each = observations.map(({ value, scope }) => ({
        scope,
        value: (value as JsonObject)[key],
      }));
      const existing = each.filter(({ value }) => value !== undefined);
      const isOptional = existing.length < each.length;
      // A field that some answers lack must be an expression that is missing there, too.
      const expression = isOptional ? this.expression(each, [...path, key]) : undefined;
      if (expression !== undefined) return [key, this.use(expression)] as const;
      if (isOptional) this.unexplained.push([...path, key].join('.'));
      return [key, this.explain(existing, [...path, key])] as const;
    });
    const values = computed.map(({ key, names }) => {
      const each = observations.map(({ value, scope }, index) => ({
        scope,
        value: (value as JsonObject)[names[index] ?? ''],
      }));
      return [key, this.explain(each, [...path, key])] as const;
    });
    return Object.fromEntries([
      ...fields.map(([key, value]) => [key.replaceAll('${', () => '$${'), value] as const),
      ...values,
    ]);
  }

  /** Keys with a value of the parent: each map has another one in the same place. */
  #computedKeys(
    observations: readonly Observation[],
    path: readonly string[],
  ): readonly { readonly key: string; readonly names: readonly string[] }[] {
    if (!hasFreeKeys(path)) return [];
    const maps = observations.map(({ value }) => Object.keys(value as JsonObject));
    const varying = maps.map((keys) =>
      keys.filter((key) => !maps.every((others) => others.includes(key))),
    );
    const [first = []] = varying;
    if (varying.some(({ length }) => length !== first.length)) return [];
    return first.flatMap((_, index) => {
      const names = varying.map((keys) => keys[index] ?? '');
      const own = new Explainer();
      const key = own.explain(
        observations.map(({ scope }, at): Observation => ({ scope, value: names[at] })),
        [...path, 'key'],
      );
      if (own.unexplained.length > 0 || typeof key !== 'string') return [];
      for (const expression of own.used) this.used.add(expression);
      return [{ key, names }];
    });
  }

  /** The expression that has these values, also where one is missing. Undefined: there is none, or it is equal by chance. */
  expression(observations: readonly Observation[], path: readonly string[]): string | undefined {
    const source = observations.find(({ value }) => value !== undefined);
    if (source === undefined) return undefined;
    const isVarying = observations.some(({ value }) => !deepEqual(value, source.value));
    const key = path.findLast((each) => each !== '[]') ?? '';
    const candidates = [...source.scope.keys()].filter(
      (expression) =>
        observations.every(({ value, scope }) => deepEqual(value, scope.get(expression))) &&
        (isVarying || isPlausible(expression, source.value as Json, path)),
    );
    const rank = (expression: string) =>
      (fieldOf(expression) === key ? 0 : 100) +
      (expression.startsWith('$') ? 0 : 50) +
      expression.length / 100;
    return candidates.toSorted((a, b) => rank(a) - rank(b))[0];
  }

  /** A text in which names and varying texts of the scope are expressions. */
  #text(observations: readonly Observation[], path: readonly string[]): Json {
    const [first] = observations as readonly [Observation];
    const text = first.value as string;
    const isVarying = observations.some(({ value }) => value !== text);
    const names = ['$item', '$index', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
    const isUsable = (expression: string, value: Json) =>
      names.some((name) => expression === name || expression.startsWith('$item.'))
        ? isVarying || isReference(path)
        : isVarying && (typeof value === 'number' || String(value).length > 1);
    const parts = [...first.scope]
      .filter(
        ([expression, value]) =>
          typeof value !== 'object' && typeof value !== 'boolean' && isUsable(expression, value),
      )
      .toSorted(([, a], [, b]) => String(b).length - String(a).length)
      .reduce<readonly Part[]>(
        (all, [expression, value]) => {
          const occurs = observations.every(({ value: own, scope }) => {
            const other = scope.get(expression);
            return other !== undefined && pattern(other).test(String(own));
          });
          return occurs
            ? all.flatMap((part) =>
                typeof part === 'string' ? replaced(part, expression, value) : [part],
              )
            : all;
        },
        [text],
      );
    const isExact = observations.every(({ value, scope }) => rendered(parts, scope) === value);
    if (!isExact) {
      this.unexplained.push(path.join('.'));
      return literalText(text);
    }
    for (const part of parts) if (typeof part !== 'string') this.used.add(part.text);
    return templateText(parts);
  }
}

function fieldOf(expression: string): string {
  return /([A-Za-z_]\w*)`?(?:\[\d+\])?$/.exec(expression)?.[1] ?? '';
}

/** Is a value that never varies more than equal by chance? */
function isPlausible(expression: string, value: Json, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  const key = (path.findLast((each) => each !== '[]') ?? '').toLowerCase();
  const field = fieldOf(expression).toLowerCase();
  const isSameField = key === field || (field.length > 2 && key.endsWith(field));
  if (typeof value !== 'string') return isSameField;
  if (expression.startsWith('metadata.')) return false;
  return isSameField || (value.length > 3 && /[^a-z]/.test(value));
}

function pattern(value: Json): RegExp {
  const text = escapedPattern(String(value));
  return new RegExp(`(?<![A-Za-z0-9])${text}(?![A-Za-z0-9])`);
}

function replaced(text: string, expression: string, value: Json): readonly Part[] {
  const pieces = text.split(new RegExp(pattern(value), 'g'));
  return pieces
    .flatMap((piece, index): readonly Part[] => (index === 0 ? [piece] : [atom(expression), piece]))
    .filter((part) => part !== '');
}

function rendered(parts: readonly Part[], scope: Scope): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : String(scope.get(part.text))))
    .join('');
}
