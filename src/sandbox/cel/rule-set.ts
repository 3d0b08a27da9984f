import { deepEqual } from '#util/deep-equal.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { partsIn } from '#util/json-schema.ts';
import { isJsonList, listField, stringField } from '../json-fields.ts';
import { type StructuralSchema, schemaOfField } from '../schema/structural-schema.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../status/field-error.ts';
import { type CelEnvironment, toCel } from './cel-environment.ts';

/** The rules that a value violates, with the server's messages. */
interface RuleViolations {
  readonly errors: readonly FieldError[];
  /** Rules that the previous value violated too; these do not reject the write. */
  readonly tolerated: readonly FieldError[];
}

/** The rules of a schema: those that the sandbox can evaluate, and those that it cannot. */
export interface RuleSet {
  /** `before` is undefined when the value is new. */
  check(value: Json, before: Json | undefined): RuleViolations;
  /** True when there is no rule to evaluate. */
  readonly isEmpty: boolean;
  /** Rules that the sandbox cannot parse: objects that violate them are accepted. */
  readonly unsupported: readonly string[];
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
export function readRules(environment: CelEnvironment, schema: StructuralSchema): RuleSet {
  const rules = new Map<StructuralSchema, readonly Rule[]>();
  const unsupported: string[] = [];
  collect({ environment, rules, unsupported }, schema);
  const noViolations: RuleViolations = { errors: [], tolerated: [] };
  if (rules.size === 0) return { check: () => noViolations, isEmpty: true, unsupported };
  return {
    check(value, before) {
      const found = { errors: [], tolerated: [] };
      checkAt({ rules, schema, value, before, path: '', above: undefined }, found);
      return found;
    },
    isEmpty: false,
    unsupported,
  };
}

interface Collection {
  readonly environment: CelEnvironment;
  readonly rules: Map<StructuralSchema, readonly Rule[]>;
  readonly unsupported: string[];
}

function collect(into: Collection, schema: StructuralSchema): void {
  const validations = listField(schema as JsonObject, 'x-kubernetes-validations');
  const read = validations.filter(isJsonObject).flatMap((source): readonly Rule[] => {
    const rule = readRule(into.environment, source);
    if (rule !== undefined) return [rule];
    into.unsupported.push(stringField(source, 'rule') ?? '');
    return [];
  });
  if (read.length > 0) into.rules.set(schema, read);
  for (const part of partsIn(schema)) collect(into, part.schema);
}

function readRule(environment: CelEnvironment, source: JsonObject): Rule | undefined {
  const text = stringField(source, 'rule') ?? '';
  const messageText = stringField(source, 'messageExpression');
  try {
    const program = environment.parse(text);
    const message = messageText === undefined ? undefined : environment.parse(messageText);
    // The parser accepts unknown names and functions; only the check finds them.
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
    // The library cannot parse it: the caller warns that the rule is not evaluated.
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
    // Transition rules also apply to unchanged values.
    const into = !rule.isTransition && isUnchanged(place) ? found.tolerated : found.errors;
    into.push(...errors);
  }
  for (const inner of innerPlaces(place)) checkAt(inner, found);
}

/** Items without keys are unchanged only when their list is. */
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
      before: correlatedItem(schema, item, before),
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

/** Only items with keys have a previous value. */
function correlatedItem(schema: StructuralSchema, item: Json, before: Json | undefined) {
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
    const ruleName = stringField(rule.source, 'message')?.trim() || rule.text.trim();
    const message = `${problemOf(error)} evaluating rule: ${ruleName}`;
    return [invalidField(path, schema.type ?? 'object', message)];
  }
  return [fieldError(rule, value, { path, message: failureMessage(rule, context) })];
}

/** The first line of the library's message, in the server's case. */
function problemOf(error: unknown): string {
  const text = messageOf(error);
  const [line = ''] = text.split('\n');
  return line.charAt(0).toLowerCase() + line.slice(1);
}

function failureMessage(rule: Rule, context: Record<string, unknown>): string {
  const computedMessage = computed(rule, context);
  if (typeof computedMessage === 'string' && computedMessage.trim() !== '')
    return computedMessage.trim();
  return stringField(rule.source, 'message')?.trim() || `failed rule: ${rule.text.trim()}`;
}

function computed(rule: Rule, context: Record<string, unknown>): unknown {
  try {
    return rule.message(context);
  } catch {
    // As on the server, the static message replaces a message expression that fails.
    return undefined;
  }
}

interface Violation {
  readonly path: string;
  readonly message: string;
}

function fieldError(rule: Rule, value: Json, { path, message }: Violation): FieldError {
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
