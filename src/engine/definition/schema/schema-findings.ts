import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { didYouMean } from '#util/did-you-mean.ts';
import { pointerSteps, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, plainForm, quotedList } from '../tree.ts';
import { unsupportedKeywords } from './crd-schema.ts';
import type { JsonSchema } from './json-schema.ts';

/** Validates a tree against one schema. */
export type SchemaCheck = (root: unknown) => readonly Finding[];

/**
 * The options after `strict` reduce start-up time from 100 ms to 20 ms. A test validates our schema; `inlineRefs:
 * false` generates less code.
 */
export const ajvOptions: Options = {
  allErrors: true,
  verbose: true,
  messages: false,
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  inlineRefs: false,
  code: { optimize: false },
};

/** Compiles the schema with the first tree, which takes 45 ms for the whole format: the check of a format is a constant. In the bundle it is compiled already. */
export function createSchemaCheck(schema: JsonSchema): SchemaCheck {
  let validate: ValidateFunction | undefined;
  return (root) => {
    validate ??= new Ajv(ajvOptions).compile(schema);
    if (validate(root)) return [];
    return withoutConsequences((validate.errors ?? []).flatMap(findingOf));
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
      return [unknownField(path, error.params.additionalProperty, error)];
    case 'type':
      return [wrongType(path, value, schema)];
    case 'enum':
    case 'const':
      return [wrongEnumValue(path, value, error)];
    case 'pattern':
      return [
        {
          code: 'invalid-value',
          path,
          message: expected(title(schema), value),
          hint: patternHint(String(value), String(error.schema)),
        },
      ];
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
      return [
        {
          code: 'invalid-value',
          path,
          message: 'Expected a non-empty string, found an empty string',
        },
      ];
    default:
      return [];
  }
}

function missingField(parent: string, field: string): Finding {
  const path = pointerTo(parent, field);
  return { code: 'missing-field', path, at: 'parent-key', message: `Missing field "${field}"` };
}

function unknownField(
  parent: string,
  field: string,
  { data, parentSchema: schema = {} }: ErrorObject,
): Finding {
  const path = pointerTo(parent, field);
  const isInCrdSchema = Object.hasOwn(fieldsOf(schema), 'x-kubernetes-int-or-string');
  const instead = isInCrdSchema ? unsupportedKeywords.get(field) : undefined;
  if (instead !== undefined) {
    const message = `The API server does not support "${field}" in a CRD schema`;
    return { code: 'invalid-crd', path, at: 'key', message, hint: instead };
  }
  const known = Object.keys(fieldsOf(schema));
  const absent = known.filter((name) => !Object.hasOwn(data as object, name));
  return {
    code: 'unknown-field',
    path,
    at: 'key',
    message: `Unknown field "${field}"`,
    hint:
      placedHints.get(path) ??
      installHint(parent, field) ??
      ruleHint(parent, data) ??
      foreignHint(field, known) ??
      manifestHint(field, known) ??
      didYouMean(field, absent) ??
      didYouMean(field, known) ??
      deeperHint(field, data, schema) ??
      knownFields(known),
  };
}

/** Hints for fields in a wrong place, by path. */
const placedHints: ReadonlyMap<string, string> = new Map([
  ['/spec/clusters', 'Did you mean "controller.clusters"?'],
]);

/** Fields of children that objects of `install` do not have. */
const childFields: ReadonlyMap<string, string> = new Map([
  ['crossNamespace', 'Objects of "install" may be in every namespace: write it as a literal'],
  ['cluster', 'Objects of "install" are in the cluster of the definition'],
  ['crossCluster', 'Objects of "install" are in the cluster of the definition'],
  ...[
    'ordered',
    'updateStrategy',
    'gate',
    'kinds',
    'fields',
    'cascade',
    'runs',
    'prune',
    'holdsData',
    'deleteWhen',
  ].map((field) => [field, `Only "children" have "${field}"`] as const),
]);

function installHint(parent: string, field: string): string | undefined {
  return /^\/spec\/install\/\d+$/.test(parent) ? childFields.get(field) : undefined;
}

/** Names of the two paths of a rule in other tools. */
const pathNames = [
  ['from', 'to'],
  ['source', 'target'],
  ['old', 'new'],
] as const;

/** A rule of `conversions` whose two paths have other names: the right form of the whole rule. */
function ruleHint(parent: string, data: unknown): string | undefined {
  if (!/^\/spec\/conversions\/versions\/\d+\/fields\/\d+$/.test(parent)) return undefined;
  const rule = data as Readonly<Record<string, unknown>>;
  const [from = '', to = ''] =
    pathNames.find((names) => names.every((name) => typeof rule[name] === 'string')) ?? [];
  if (from === '' || 'here' in rule || 'there' in rule) return undefined;
  return `${ruleStart} ${String(rule[from])}, there: ${String(rule[to])} }": "here" is the field in this version, and "there" the one in the hub`;
}

const ruleStart = 'Write "{ here:';

/** Fields in other tools, and our names of them. */
const foreignFields: ReadonlyMap<string, string> = new Map([
  ['dependsOn', 'after'],
  ['includeWhen', 'when'],
  ['readyWhen', 'ready'],
  ['name', 'id'],
  ['from', 'here'],
  ['to', 'there'],
  ['childs', 'children'],
  ['resources', 'children'],
  ['min', 'minimum'],
  ['max', 'maximum'],
]);

function foreignHint(field: string, known: readonly string[]): string | undefined {
  const meant = foreignFields.get(field);
  return meant !== undefined && known.includes(meant) ? `Did you mean "${meant}"?` : undefined;
}

/** A field that belongs one level deeper: a label of a selector, or `openAPIV3Schema` beside the name of a version. */
function deeperHint(field: string, data: unknown, schema: JsonSchema): string | undefined {
  const inner = Object.entries(fieldsOf(schema)).find(([, each]) =>
    Object.hasOwn(fieldsOf(each as JsonSchema), field),
  );
  if (inner !== undefined) return `Move it into "${inner[0]}"`;
  const value = (data as Readonly<Record<string, unknown>>)[field];
  return Object.hasOwn(fieldsOf(schema), 'matchLabels') && typeof value === 'string'
    ? `Write "matchLabels: { ${field}: ${value} }"`
    : undefined;
}

/** A manifest beside `template` instead of in it. */
function manifestHint(field: string, known: readonly string[]): string | undefined {
  const isOfManifest = ['apiVersion', 'kind', 'metadata', 'spec', 'data'].includes(field);
  return isOfManifest && known.includes('template') ? templateHint : undefined;
}

/** Lists the known fields if there are only a few. */
function knownFields(known: readonly string[]): string | undefined {
  return known.length > 0 && known.length <= 6 ? `Known fields: ${known.join(', ')}` : undefined;
}

function fieldsOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return (schema.properties ?? {}) as Readonly<Record<string, unknown>>;
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: '"true" or "false"',
};

function wrongType(path: string, value: unknown, schema: JsonSchema): Finding {
  const types = [schema.type].flat().map((name) => typeNames[String(name)] ?? String(name));
  return {
    code: 'wrong-type',
    path,
    message: expected(title(schema) ?? types.join(' or '), value),
    hint: typeHint(path, value, schema),
  };
}

function quoted(value: unknown): string {
  return `Quote it: ${JSON.stringify(String(value))}`;
}

function typeHint(path: string, value: unknown, schema: JsonSchema): string | undefined {
  if (value === null) return 'Remove the field, or set a value';
  const field = pointerSteps(path).at(-1) ?? '';
  // As in other schema languages, where each property says whether it is required.
  if (schema.type === 'array' && field === 'required' && typeof value === 'boolean')
    return 'List the names of required fields beside "properties": "required: [name]"';
  if (field === 'type' && Array.isArray(value)) return typeListHint(value);
  if (schema.type === 'object') return mapHint(field, value, schema);
  if (schema.type === 'array' && typeof value === 'object') return listHint(value, schema);
  if (typeof value === 'string') {
    const plain = plainForm(value, [schema.type].flat());
    if (plain !== undefined) return `Write ${plain}, without quotes`;
  }
  if (schema.type === 'array' && ['string', 'number', 'boolean'].includes(typeof value))
    return `Write a list: "${field}: [${String(value)}]"`;
  if (typeof value === 'object') return undefined;
  // A name, or a list of names.
  if ([schema.type].flat().join() === 'string,array') return quoted(value);
  if (schema.type !== 'string') return undefined;
  if (/\/versions\/\d+\/name$/.test(path)) return 'Write a version of Kubernetes, such as "v1"';
  if (Array.isArray(schema.enum)) return `Write ${quotedList(schema.enum)}`;
  if (schema.title === undefined) return quoted(value);
  return typeof value === 'number' ? `Add a unit: "${value}s"` : undefined;
}

/** A duration with a unit, a JSON path with its dot and without braces, or lower case, if the pattern then matches. */
function patternHint(value: string, pattern: string): string | undefined {
  const bare = value.trim().replaceAll(/^\{|\}$/g, '');
  const forms = [bare, `.${bare}`, bare.toLowerCase(), ...(/^\d+$/.test(bare) ? [`${bare}s`] : [])];
  const matching = forms.find((form) => new RegExp(pattern, 'u').test(form));
  return matching === undefined ? undefined : `Write "${matching}"`;
}

/** A CRD schema has one type; null is a keyword of its own. */
function typeListHint(types: readonly unknown[]): string | undefined {
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (others.length > 0) return undefined;
  return `Write "type: ${type}"${types.includes('null') ? ' and "nullable: true"' : ''}`;
}

/** How another value becomes a map. */
function mapHint(field: string, value: unknown, schema: JsonSchema): string | undefined {
  if (typeof value === 'string' && value.trim().includes('\n')) return 'Remove the "|" before it';
  if (value === true && Object.keys(fieldsOf(schema)).length === 0) return `Write "${field}: {}"`;
  const meant = Object.entries(fieldsOf(schema)).find(([name, each]) =>
    fits(value, each as JsonSchema, name),
  )?.[0];
  const [first] = Array.isArray(value) ? (value as unknown[]) : [];
  const name = fieldOf(first, 'name');
  if (meant === undefined) return name === undefined ? undefined : `Write a map: "${name}: ..."`;
  if (Array.isArray(value)) return `Write the list into "${meant}"`;
  const text = String(value);
  return `Write "${field}: { ${meant}: ${/^\w+$/.test(text) ? text : `'${text}'`} }"`;
}

/** Whether a field can have this value: `type` of `updateStrategy`, for `Recreate`. */
function fits(value: unknown, schema: JsonSchema, name: string): boolean {
  if (Array.isArray(value)) return schema.type === 'array';
  if (typeof value !== 'string') return false;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (typeof schema.pattern === 'string') return new RegExp(schema.pattern, 'u').test(value);
  return name === 'cron' && value.trim().split(/\s+/).length === 5;
}

/** A map by name where a list of items with that name is expected. */
function listHint(value: object | null, { items }: JsonSchema): string | undefined {
  const [name] = Object.keys(value ?? {});
  const required: unknown = (items as JsonSchema | undefined)?.required;
  return name !== undefined && Array.isArray(required)
    ? `Write a list: "- ${String(required[0])}: ${name}"`
    : 'Write "- " before each item';
}

function wrongEnumValue(path: string, value: unknown, error: ErrorObject): Finding {
  const allowed: readonly unknown[] =
    error.keyword === 'const' ? [error.params.allowedValue] : error.params.allowedValues;
  return {
    code: 'invalid-value',
    path,
    message: expected(quotedList(allowed), value),
    hint: typeof value === 'string' ? valueHint(value, allowed.map(String)) : undefined,
  };
}

/** Values in other schema languages and in Kubernetes. */
const foreignValues: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['list', 'array'],
  ['map', 'object'],
  ['bool', 'boolean'],
  ['float', 'number'],
  ['double', 'number'],
  ['text', 'string'],
  ['retain', 'Orphan'],
]);

function valueHint(value: string, allowed: readonly string[]): string | undefined {
  const meant = foreignValues.get(value.toLowerCase());
  if (meant !== undefined && allowed.includes(meant)) return `Did you mean "${meant}"?`;
  return didYouMean(value, allowed);
}

function outOfRange(path: string, value: unknown, what: string): Finding {
  return { code: 'invalid-value', path, message: expected(what, value) };
}

function expected(what: string | undefined, value: unknown): string {
  return `Expected ${what ?? 'another value'}, found ${describeFound(value)}`;
}

function title(schema: JsonSchema): string | undefined {
  return typeof schema.title === 'string' ? schema.title : undefined;
}

/**
 * Drops findings that have the cause of another one: a "missing field" where the field is present under a mistyped name, or its content
 * beside it, and further fields with a hint for all of them.
 */
export function withoutConsequences(findings: readonly Finding[]): readonly Finding[] {
  const unknown = findings.filter(({ code }) => code === 'unknown-field');
  const taken = new Set(unknown.map(({ path, hint }) => `${parentOf(path)}|${hint}`));
  const isMeant = (path: string) => {
    const [parent, field] = [parentOf(path), pointerSteps(path).at(-1)];
    return (
      taken.has(`${parent}|Did you mean "${field}"?`) ||
      (field === 'template' && taken.has(`${parent}|${templateHint}`)) ||
      whole.some((each) => isRuleHint(each.hint) && parentOf(each.path) === parent)
    );
  };
  const whole = unknown.filter(({ hint }) => hint === templateHint || isRuleHint(hint));
  return findings.filter((finding) => {
    const { message, path } = finding;
    if (message.startsWith('Missing field')) return !isMeant(path);
    return (
      !whole.includes(finding) ||
      finding === whole.find((first) => parentOf(first.path) === parentOf(path))
    );
  });
}

function isRuleHint(hint: string | undefined): boolean {
  return hint?.startsWith(ruleStart) === true;
}

const templateHint = 'Put the manifest of the object into "template"';

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
