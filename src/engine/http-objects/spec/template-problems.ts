import type { LeafParser } from '#compile/language/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  pointerSteps,
  pointerTo,
} from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  holdsLiteralField,
  isLiteralField,
  isPathField,
  mayHaveComputedKeys,
} from '../kinds/literal-fields.ts';
import { fieldSchema, type KindSchema } from '../kinds/schema.ts';
import { compileCode } from './code-field.ts';
import { exampleValue } from './example-value.ts';
import { expressionProblems } from './expression-problems.ts';
import { type HttpKindCheck, httpKindCheckOf } from './kind-check.ts';
import { parsePath } from './path-template.ts';
import { errorAt, type SpecProblem } from './problem.ts';

/**
 * Problems of an `HttpObject` or `HttpEndpoint` in a definition, where values may be computed: examples take their place, and the result is
 * decoded. Code, paths, and maps with them must not be computed. Pure.
 */
export function templateProblems(template: JsonObject, parser: LeafParser): readonly SpecProblem[] {
  const kind = httpKindCheckOf(template);
  if (kind === undefined) return [];
  const completion = new Completion(kind.name, parser);
  const spec = completion.complete(template.spec, specSchemaOf(kind));
  const decoded = kind.problems({ ...template, spec } as unknown as KubeObject, parser);
  const literal = decoded.filter(
    ({ path, because = path, isOfKey }) =>
      (isOfKey === true && !completion.hasComputedKey(path)) ||
      (!completion.isComputed(path) && !completion.isComputed(because)),
  );
  const mistaken = expressionProblems(kind.name, template.spec);
  const others = literal.filter(({ path }) => !mistaken.some((each) => each.path === path));
  return [...completion.problems, ...others, ...mistaken];
}

/** Problems of computed code and paths in a part of an `HttpObject` or `HttpEndpoint`: a patch of a definition. Pure. */
export function patchProblems(
  patch: JsonObject,
  kind: { readonly apiVersion: string; readonly kind: string },
  parser: LeafParser,
): readonly SpecProblem[] {
  const found = httpKindCheckOf(kind);
  if (found === undefined) return [];
  const completion = new Completion(found.name, parser);
  completion.complete(patch.spec, specSchemaOf(found));
  return completion.problems;
}

function specSchemaOf({ schema }: HttpKindCheck): KindSchema {
  return fieldSchema(schema, 'spec') ?? {};
}

/** Puts examples in the place of computed values. */
class Completion {
  readonly problems: SpecProblem[] = [];
  readonly #kind: string;
  readonly #parser: LeafParser;
  readonly #computed: string[] = [];
  /** Maps whose names are not all known. */
  readonly #open = new Set<string>();
  /** Names of parameters in paths, and of inputs in `secretFields`. */
  readonly #names = { params: new Set<string>(), inputs: new Set<string>() };

  constructor(kind: string, parser: LeafParser) {
    this.#kind = kind;
    this.#parser = parser;
  }

  /** Whether a value depends on an expression. */
  isComputed(path: string): boolean {
    return this.#computed.some((each) => path === each || path.startsWith(`${each}/`));
  }

  /** Whether the key at the end of a path depends on an expression, or a map around it. */
  hasComputedKey(path: string): boolean {
    const [key = ''] = pointerSteps(path).slice(-1);
    return this.#isExpression(key) || this.isComputed(path.slice(0, path.lastIndexOf('/')));
  }

  complete(raw: Json | undefined, schema: KindSchema): Json | undefined {
    if (raw === undefined) return undefined;
    const spec = this.#value(raw, schema, []);
    return isJsonObject(spec) ? this.#withNames(spec, schema) : spec;
  }

  #value(raw: Json, schema: KindSchema, steps: readonly string[]): Json {
    if (typeof raw === 'string') return this.#text(raw, schema, steps);
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) return raw;
    if (Array.isArray(raw)) {
      const items = objectAt(schema, 'items') ?? {};
      return raw.map((item: Json, index) => this.#value(item, items, [...steps, String(index)]));
    }
    return isJsonObject(raw) ? this.#map(raw, schema, steps) : raw;
  }

  #text(text: string, schema: KindSchema, steps: readonly string[]): Json {
    const path = pointerOf(steps);
    const isLiteral = isLiteralField(this.#kind, steps);
    if (isPathField(steps) && !this.#isExpression(text))
      for (const [, name = ''] of text.matchAll(/\{([^{}]+)\}/g)) this.#names.params.add(name);
    if (steps[0] === 'secretFields') this.#names.inputs.add(text);
    if (!this.#isExpression(text)) return text;
    this.#computed.push(path);
    if (isNamed(steps)) this.#open.add(steps[0] ?? '');
    if (isLiteral) this.problems.push(...this.#computedField(text, steps, path));
    else if (holdsLiteralField(this.#kind, steps))
      this.problems.push(isNameList(steps) ? computedNames(path) : computedMap(path));
    return exampleValue(schema);
  }

  #map(raw: JsonObject, schema: KindSchema, steps: readonly string[]): Json {
    const properties = objectAt(schema, 'properties') ?? {};
    const values = objectAt(schema, 'additionalProperties');
    // A missing value may be written as null.
    const entries = Object.entries(raw).flatMap(([key, value]) => {
      if (value === null || value === undefined) return [];
      const inner = [...steps, key];
      this.#noteKey(key, steps, inner);
      const schemaOfValue = values ?? objectAt(properties, key) ?? {};
      return [[key, this.#value(value, schemaOfValue, inner)] as const];
    });
    return Object.fromEntries(entries);
  }

  #noteKey(key: string, steps: readonly string[], inner: readonly string[]): void {
    if (!this.#isExpression(key)) return;
    if (!mayHaveComputedKeys(this.#kind, steps)) this.problems.push(computedKey(inner));
    if (isNamed(steps)) this.#open.add(steps[0] ?? '');
    if (!isLiteralField(this.#kind, inner)) this.#computed.push(pointerOf(inner));
  }

  #computedField(text: string, steps: readonly string[], path: string): readonly SpecProblem[] {
    if (isPathField(steps)) {
      const parsed = parsePath(text, path, this.#kind === 'HttpObject' ? ['id'] : []);
      return 'problem' in parsed ? [parsed.problem] : [];
    }
    if (isNameList(steps)) return [computedNames(path)];
    const compiled = compileCode(text, path, this.#parser);
    return 'problem' in compiled ? [compiled.problem] : [];
  }

  /** Computed maps have all names that are used. */
  #withNames(spec: JsonObject, schema: KindSchema): JsonObject {
    const added = (['params', 'inputs'] as const).flatMap((field) => {
      if (!this.#open.has(field)) return [];
      const map = objectAt(objectAt(schema, 'properties'), field);
      const example = exampleValue(objectAt(map, 'additionalProperties') ?? {});
      const names = [...this.#names[field]].filter((name) => !isImplied(name));
      const examples = Object.fromEntries(names.map((name) => [name, example]));
      return [[field, { ...examples, ...objectAt(spec, field) }] as const];
    });
    return { ...spec, ...Object.fromEntries(added) };
  }

  #isExpression(text: string): boolean {
    if (!text.includes('${') && !text.includes('{{')) return false;
    return this.#parser.parse(text).leaf?.kind !== 'literal';
  }
}

/** A map whose names are used elsewhere. */
function isNamed(steps: readonly string[]): boolean {
  return steps.length === 1 && (steps[0] === 'params' || steps[0] === 'inputs');
}

/** The names of parameters that may have slashes. */
function isNameList(steps: readonly string[]): boolean {
  return steps[0] === 'slashesIn';
}

function isImplied(name: string): boolean {
  return name === 'id' || name.startsWith('metadata.');
}

function computedMap(path: string): SpecProblem {
  return {
    ...errorAt(
      path,
      'Expected a literal map, found a computed one: it has code or paths',
      'Compute the values of its other fields',
    ),
    code: 'forbidden-expression',
  };
}

function computedNames(path: string): SpecProblem {
  return {
    ...errorAt(
      path,
      'Expected literal names of parameters, found computed ones: they decide which object a path names',
    ),
    code: 'forbidden-expression',
  };
}

function computedKey(steps: readonly string[]): SpecProblem {
  return {
    ...errorAt(
      pointerOf(steps),
      `Expected a literal key beside code and paths, found "${steps.at(-1)}"`,
    ),
    code: 'forbidden-expression',
  };
}

function pointerOf(steps: readonly string[]): string {
  return steps.reduce((pointer, step) => pointerTo(pointer, step), '/spec');
}
