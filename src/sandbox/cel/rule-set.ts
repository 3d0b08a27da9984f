import type { Environment } from '@marcbachmann/cel-js';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { isJsonList, listField, stringField } from '../json-fields.ts';
import { type StructuralSchema, schemaOfField } from '../schema/index.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../status/index.ts';
import { toCel } from './cel-values.ts';

/** What a value breaks, in the server's words. */
export interface BrokenRules {
  readonly errors: readonly FieldError[];
  /** What it broke before, too, and is therefore not refused for. */
  readonly tolerated: readonly FieldError[];
}

/** The rules of a schema that can be evaluated, and those that cannot. */
export interface RuleSet {
  /** Before is undefined when the value is new. */
  check(value: Json, before: Json | undefined): BrokenRules;
  /** Are there any that can be evaluated? */
  readonly isEmpty: boolean;
  /** Rules that nobody here understands: what breaks them is accepted. */
  readonly unread: readonly string[];
}

interface Rule {
  readonly text: string;
  readonly isTransition: boolean;
  readonly isOptional: boolean;
  readonly source: JsonObject;
  evaluate(context: Record<string, unknown>): unknown;
  message(context: Record<string, unknown>): unknown;
}

type RulesBySchema = ReadonlyMap<StructuralSchema, readonly Rule[]>;

/** Reads all rules of a schema. */
export function readRules(environment: Environment, schema: StructuralSchema): RuleSet {
  const rules = new Map<StructuralSchema, readonly Rule[]>();
  const unread: string[] = [];
  collect({ environment, rules, unread }, schema);
  const nothing: BrokenRules = { errors: [], tolerated: [] };
  if (rules.size === 0) return { check: () => nothing, isEmpty: true, unread };
  return {
    check(value, before) {
      const found = { errors: [], tolerated: [] };
      checkAt({ rules, schema, value, before, path: '', above: undefined }, found);
      return found;
    },
    isEmpty: false,
    unread,
  };
}

interface Collection {
  readonly environment: Environment;
  readonly rules: Map<StructuralSchema, readonly Rule[]>;
  readonly unread: string[];
}

function collect(into: Collection, schema: StructuralSchema): void {
  const validations = listField(schema as JsonObject, 'x-kubernetes-validations');
  const read = validations.filter(isJsonObject).flatMap((source): readonly Rule[] => {
    const rule = readRule(into.environment, source);
    if (rule !== undefined) return [rule];
    into.unread.push(stringField(source, 'rule') ?? '');
    return [];
  });
  if (read.length > 0) into.rules.set(schema, read);
  const { properties = {}, items, additionalProperties } = schema;
  for (const field of Object.values(properties)) collect(into, field);
  if (items !== undefined) collect(into, items);
  if (typeof additionalProperties === 'object') collect(into, additionalProperties);
}

function readRule(environment: Environment, source: JsonObject): Rule | undefined {
  const text = stringField(source, 'rule') ?? '';
  const messageText = stringField(source, 'messageExpression');
  try {
    const program = environment.parse(text);
    const message = messageText === undefined ? undefined : environment.parse(messageText);
    // What is not known by name is only found by the check.
    if (!program.check().valid || message?.check().valid === false) return undefined;
    return {
      text,
      isTransition: /\boldSelf\b/.test(text),
      isOptional: source.optionalOldSelf === true,
      source,
      evaluate: (context) => program(context),
      message: (context) => message?.(context),
    };
  } catch {
    // The library does not read it: the caller warns that nobody evaluates it.
    return undefined;
  }
}

interface Place {
  readonly rules: RulesBySchema;
  readonly schema: StructuralSchema;
  readonly value: Json;
  readonly before: Json | undefined;
  readonly path: string;
  readonly above: Place | undefined;
}

interface Found {
  readonly errors: FieldError[];
  readonly tolerated: FieldError[];
}

function checkAt(place: Place, found: Found): void {
  const { rules, schema } = place;
  for (const rule of rules.get(schema) ?? []) {
    const errors = checkRule(rule, place);
    if (errors.length === 0) continue;
    // Rules about a change are about what did not change, too.
    const into = !rule.isTransition && isUnchanged(place) ? found.tolerated : found.errors;
    into.push(...errors);
  }
  for (const inner of innerPlaces(place)) checkAt(inner, found);
}

/** Items that cannot be told from each other are as they were when their list is. */
function isUnchanged({ value, before, above }: Place): boolean {
  if (before !== undefined && deepEqual(value, before)) return true;
  return above !== undefined && isUnchanged(above);
}

function innerPlaces(place: Place): readonly Place[] {
  const { schema, value, before, path } = place;
  if (isJsonList(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.map((item, index) => ({
      ...place,
      above: place,
      schema: items,
      value: item,
      before: counterpart(schema, item, before),
      path: `${path}[${index}]`,
    }));
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field = null]) => {
    const inner = schemaOfField(schema, name);
    if (inner === undefined) return [];
    const old = isJsonObject(before) ? before[name] : undefined;
    const at = { schema: inner, value: field, before: old, path: child(place, name) };
    return [{ ...place, ...at, above: place }];
  });
}

function child({ schema, path }: Place, name: string): string {
  const isNamed = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
  if (!isNamed) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Only items with keys can be told from each other. */
function counterpart(schema: StructuralSchema, item: Json, before: Json | undefined) {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !isJsonList(before) || !isJsonObject(item)) return undefined;
  return before.find(
    (old) => isJsonObject(old) && keys.every((key) => deepEqual(old[key], item[key])),
  );
}

function checkRule(rule: Rule, { schema, value, before, path }: Place): readonly FieldError[] {
  if (value === null) return [];
  if (rule.isTransition && before === undefined && !rule.isOptional) return [];
  const context = {
    self: toCel(value, schema),
    ...(before === undefined ? {} : { oldSelf: toCel(before, schema) }),
  };
  try {
    if (rule.evaluate(context) === true) return [];
  } catch (error) {
    const said = stringField(rule.source, 'message')?.trim() || rule.text.trim();
    const message = `${problemOf(error)} evaluating rule: ${said}`;
    return [invalidField(path, schema.type ?? 'object', message)];
  }
  return [fieldError(rule, value, { path, message: messageOf(rule, context) })];
}

/** The first line of what the library says, in the server's case. */
function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [line = ''] = text.split('\n');
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function messageOf(rule: Rule, context: Record<string, unknown>): string {
  const told = computed(rule, context);
  if (typeof told === 'string' && told.trim() !== '') return told.trim();
  return stringField(rule.source, 'message')?.trim() || `failed rule: ${rule.text.trim()}`;
}

function computed(rule: Rule, context: Record<string, unknown>): unknown {
  try {
    return rule.message(context);
  } catch {
    // A message that cannot be made is replaced by the one that is written down, as on the server.
    return undefined;
  }
}

interface Refusal {
  readonly path: string;
  readonly message: string;
}

function fieldError(rule: Rule, value: Json, { path, message }: Refusal): FieldError {
  const inner = stringField(rule.source, 'fieldPath') ?? '';
  const field = path === '' ? inner.replace(/^\./, '') : `${path}${inner}`;
  switch (rule.source.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, message);
    case 'FieldValueRequired':
      return requiredField(field, message);
    case 'FieldValueDuplicate':
      return duplicateField(field, value);
    default:
      return typeof value === 'object'
        ? { reason: 'FieldValueInvalid', message: `Invalid value: ${message}`, field }
        : invalidField(field, value, message);
  }
}
