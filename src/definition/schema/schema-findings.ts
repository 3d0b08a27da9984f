import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { didYouMean } from '../../util/did-you-mean.ts';
import { pointerSteps, pointerTo } from '../../util/json-pointer.ts';
import { found, oneOf } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { refusedKeywords } from './crd-schema.ts';
import type { JsonSchema } from './json-schema.ts';

/** Checks a tree against one schema. */
export type SchemaCheck = (root: unknown) => readonly Finding[];

/** The second half is a matter of start-up time, 100 ms against 20: our schema is right by test, and one function for each reference is less code. */
export const ajvOptions: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  inlineRefs: false,
  code: { optimize: false },
};

/** Compiles a schema (some 20 ms for the whole format: keep the result). */
export function createSchemaCheck(schema: JsonSchema): SchemaCheck {
  const ajv = new Ajv(ajvOptions);
  const validate: ValidateFunction = ajv.compile(schema);
  return (root) => {
    if (validate(root)) return [];
    return withoutEchoes((validate.errors ?? []).flatMap(findingOf));
  };
}

function findingOf(error: ErrorObject): readonly Finding[] {
  const path = error.instancePath;
  const value: unknown = error.data;
  const schema: JsonSchema = error.parentSchema ?? {};
  switch (error.keyword) {
    case 'required':
      return [missingField(path, error.params.missingProperty)];
    case 'additionalProperties':
      return [unknownField(path, error.params.additionalProperty, schema)];
    case 'type':
      return [wrongType(path, value, schema)];
    case 'enum':
    case 'const':
      return [wrongWord(path, value, error)];
    case 'pattern':
      return [{ code: 'invalid-value', path, message: expected(title(schema), value) }];
    case 'minimum':
      return [outOfRange(path, value, `at least "${error.params.limit}"`)];
    case 'maximum':
      return [outOfRange(path, value, `at most "${error.params.limit}"`)];
    case 'minItems':
      return [outOfRange(path, value, 'at least one item')];
    case 'maxItems':
      return [outOfRange(path, value, `at most "${error.params.limit}" items`)];
    case 'maxLength':
      return [outOfRange(path, value, `at most "${error.params.limit}" characters`)];
    case 'minLength':
      return [{ code: 'invalid-value', path, message: 'Expected a text, found an empty one' }];
    default:
      return [];
  }
}

function missingField(parent: string, field: string): Finding {
  const path = pointerTo(parent, field);
  return { code: 'missing-field', path, at: 'parent-key', message: `Missing field "${field}"` };
}

function unknownField(parent: string, field: string, schema: JsonSchema): Finding {
  const path = pointerTo(parent, field);
  const isInCrdSchema = Object.hasOwn(fieldsOf(schema), 'x-kubernetes-int-or-string');
  const instead = isInCrdSchema ? refusedKeywords.get(field) : undefined;
  if (instead !== undefined) {
    const message = `The API server does not take "${field}" in a CRD's schema`;
    return { code: 'invalid-crd', path, at: 'key', message, hint: instead };
  }
  const known = Object.keys(fieldsOf(schema));
  return {
    code: 'unknown-field',
    path,
    at: 'key',
    message: `Unknown field "${field}"`,
    hint: didYouMean(field, known) ?? knownFields(known),
  };
}

/** With few fields to choose from, all of them are worth saying. */
function knownFields(known: readonly string[]): string | undefined {
  return known.length > 0 && known.length <= 6 ? `Known here: ${known.join(', ')}` : undefined;
}

function fieldsOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return (schema.properties ?? {}) as Readonly<Record<string, unknown>>;
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '"true" or "false"',
};

function wrongType(path: string, value: unknown, schema: JsonSchema): Finding {
  const types = [schema.type].flat().map((name) => typeNames[String(name)] ?? String(name));
  return {
    code: 'wrong-type',
    path,
    message: expected(title(schema) ?? types.join(' or '), value),
    hint: typeHint(value, schema),
  };
}

function typeHint(value: unknown, schema: JsonSchema): string | undefined {
  if (value === null) return 'Leave the field out, or give it a value';
  if (schema.type !== 'string' || typeof value === 'object') return undefined;
  if (schema.title === undefined) return `Quote it: ${JSON.stringify(String(value))}`;
  return typeof value === 'number' ? `With a unit: "${value}s"` : undefined;
}

function wrongWord(path: string, value: unknown, error: ErrorObject): Finding {
  const allowed: readonly unknown[] =
    error.keyword === 'const' ? [error.params.allowedValue] : error.params.allowedValues;
  return {
    code: 'invalid-value',
    path,
    message: expected(oneOf(allowed), value),
    hint: typeof value === 'string' ? didYouMean(value, allowed.map(String)) : undefined,
  };
}

function outOfRange(path: string, value: unknown, what: string): Finding {
  return { code: 'invalid-value', path, message: expected(what, value) };
}

function expected(what: string | undefined, value: unknown): string {
  return `Expected ${what ?? 'another value'}, found ${found(value)}`;
}

function title(schema: JsonSchema): string | undefined {
  return typeof schema.title === 'string' ? schema.title : undefined;
}

/** One mistake, one finding: a missing field that is there under a mistyped name is the mistyped name's finding. */
function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  const taken = new Set(
    findings
      .filter(({ code }) => code === 'unknown-field')
      .map(({ path, hint }) => `${parentOf(path)}|${hint}`),
  );
  return findings.filter(({ code, path }) => {
    const isEcho =
      code === 'missing-field' &&
      taken.has(`${parentOf(path)}|Did you mean "${pointerSteps(path).at(-1)}"?`);
    if (isEcho || seen.has(path)) return false;
    seen.add(path);
    return true;
  });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
