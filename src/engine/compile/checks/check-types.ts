import type { CheckContext } from '../check-context.ts';
import type { Expression, Reference, ResultType } from '../language/index.ts';
import { anyType } from '../schema/schema-compiler.ts';
import {
  fieldForScalar,
  isNumeric,
  type ScalarName,
  type SchemaType,
  typeAt,
} from '../schema/schema-type.ts';
import { CoercionError, coerce, quantityHint, typeName } from '../template/coerce.ts';
import { type CompiledTemplate, nodeAt, type Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { isCondition, listOfItems, type TemplateUse } from '../template-uses.ts';
import { elementTypeOf, isFractionType } from './element-types.ts';

/** So many vars are followed that consist of another one. */
const maxVars = 20;

/** Reports expressions with a result whose type never fits the field that it is written into. */
export function checkTypes(context: CheckContext): void {
  for (const use of context.templates) {
    for (const slot of use.template.slots) {
      const { type } = slot;
      if (type === undefined) continue;
      checkText(slot, type, context);
      const results = resultsOf(slot, use, context);
      warnAboutFractions(slot, results, context);
      for (const { found, reference, offset, text } of results) {
        // Reported with the conditions.
        if (isCondition(use) && reference?.root === 'resource') continue;
        if (text === undefined ? mayFit(found, type) : isOpen(type) || isCoercible(text, type))
          continue;
        const name = reference && nameOf(reference);
        const what = name === undefined ? 'the result' : `"${name}"`;
        context.diagnostics.report({
          code: 'wrong-type',
          message: `Expected ${expectedName(type)} at ${slot.place.field}, but ${what} is ${text ? JSON.stringify(text) : typeName(found)}`,
          hint: hintFor(found, type, name),
          ...positionInLeaf(slot, offset),
        });
        // Results of one expression have the same reason.
        break;
      }
    }
  }
}

/** Reports literal text beside expressions that no result of them completes to a value of the type: `${ spec.size }MB`. */
function checkText(
  slot: Slot,
  type: SchemaType,
  { diagnostics }: Pick<CheckContext, 'diagnostics'>,
): void {
  const { leaf, text, place } = slot;
  if (leaf.kind !== 'text' || slot.role !== 'value' || type.kind !== 'scalar') return;
  const complete = (part: string) =>
    leaf.parts.map((each) => (typeof each === 'string' ? each : part)).join('');
  const listed = (type.enum ?? []).map(String);
  if (sampleParts.some((part) => isCoercible(complete(part), type))) return;
  if (listed.some((value) => isBetween(value, leaf.parts))) return;
  const literal = leaf.parts.findLast((part) => typeof part === 'string') ?? '';
  const found = complete('1');
  diagnostics.report({
    code: 'wrong-type',
    message: `Expected ${expectedName(type)} at ${place.field}, but the result is a text such as "${found}"`,
    hint: quantityHint(text, type),
    ...positionInLeaf(slot, text.lastIndexOf(literal)),
  });
}

/** Parts of numbers, quantities and booleans. */
const sampleParts = ['', '1', '1M', 'true', '2000-01-01T00:00:00Z', 'YQ=='];

/** Whether a value begins and ends as a text with expressions does. */
function isBetween(value: string, parts: readonly unknown[]): boolean {
  const [first, last] = [parts[0], parts.at(-1)];
  return (
    (typeof first !== 'string' || value.startsWith(first)) &&
    (typeof last !== 'string' || value.endsWith(last))
  );
}

/** Warns about a number that need not be an integer where only integers are accepted: `replicas: ${ spec.size / 2 }`. */
function warnAboutFractions(
  slot: Slot,
  results: readonly KnownResult[],
  { diagnostics }: CheckContext,
): void {
  const { type, leaf, place } = slot;
  const found = results.find(({ mayBeFraction }) => mayBeFraction);
  if (found === undefined || leaf.kind !== 'value' || type?.kind !== 'scalar') return;
  if (!type.accepts.every((name) => name === 'integer')) return;
  const whole = results.length === 1 ? leaf.expression.source.trim() : '...';
  diagnostics.report({
    severity: 'warning',
    code: 'suspicious-expression',
    message: `Expected an integer at ${place.field}, but the result may be a fraction`,
    hint: `Write "$floor(${whole})", or "$ceil(${whole})" to round up`,
    ...positionInLeaf(slot, found.offset),
  });
}

/** A result of an expression whose type is known. */
export interface KnownResult {
  readonly found: SchemaType;
  readonly offset: number;
  /** Of a path. */
  readonly reference?: Reference;
  /** Of a literal. */
  readonly text?: string | undefined;
  /** Of a number that need not be an integer. */
  readonly mayBeFraction?: boolean;
}

/** The results of an expression whose type is known. */
function resultsOf(
  { leaf, role }: Slot,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
  depth = 0,
): readonly KnownResult[] {
  if (role !== 'value' || leaf.kind !== 'value') return [];
  return knownResults(leaf.expression, use, context, depth);
}

/** Those of the results whose type is known. */
export function knownResults(
  { results, references }: Pick<Expression, 'results' | 'references'>,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
  depth = 0,
): readonly KnownResult[] {
  const hasFraction = (offsets: readonly number[]) =>
    references
      .filter(({ offset, stepOffsets }) => offsets.includes(stepOffsets.at(-1) ?? offset))
      .some((reference) => mayHaveFractions(reference, use, context, depth));
  return results.flatMap((result): readonly KnownResult[] => {
    const { kind, offset } = result;
    if (kind === 'path') {
      const reference = references.find((each) => each.offset === offset);
      if (reference === undefined) return [];
      return valuesOf(reference, use, context, depth).map(({ found, mayBeFraction = false }) => ({
        found,
        reference,
        offset,
        mayBeFraction,
      }));
    }
    const text = kind === 'string' ? result.value : undefined;
    const mayBeFraction =
      kind === 'number' && (result.mayBeFraction ?? hasFraction(result.fractionPaths ?? []));
    return [{ found: formTypes[kind], offset, text, mayBeFraction }];
  });
}

/** The types that the value of a reference may have. Empty: not known. */
export function typesOf(
  reference: Reference,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
): readonly SchemaType[] {
  return valuesOf(reference, use, context, 0).map(({ found }) => found);
}

/** A value that a reference may have. */
type KnownValue = Pick<KnownResult, 'found' | 'mayBeFraction'>;

/** The values that a reference may have; a var has those of its results. Empty: not known. */
function valuesOf(
  reference: Reference,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
  depth: number,
): readonly KnownValue[] {
  const { root, path } = reference;
  if (root !== 'vars') {
    const found = typeOf(reference, use, context);
    const mayBeFraction = mayHaveFractions(reference, use, context, depth);
    if (found === undefined) return mayBeFraction ? [{ found: anyType, mayBeFraction }] : [];
    return [{ found, mayBeFraction }];
  }
  const [id = '', ...below] = path;
  const template = context.parts.vars.get(id);
  return template === undefined || depth === maxVars
    ? []
    : valuesOfVar(template, below, context, depth);
}

/** Whether what a path selects, also in lists and maps, are numbers that need not be integers. */
function mayHaveFractions(
  reference: Pick<Reference, 'root' | 'path'>,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
  depth: number,
): boolean {
  const { root, path } = reference;
  const itemType = () => itemTypeOf(listOfItems(use), context);
  if (root !== 'vars') return isFractionType(elementTypeOf(reference, use, context, itemType));
  const [id = '', ...below] = path;
  const template = context.parts.vars.get(id);
  if (template === undefined || depth === maxVars) return false;
  if (template.root.kind !== 'slot' || below.length === 0)
    return valuesOfVar(template, below, context, depth).some(({ mayBeFraction }) => mayBeFraction);
  // What a var that is a path selects has the fields of that path.
  return slotResults(template, context, depth).some(
    ({ reference: of }) =>
      of !== undefined &&
      mayHaveFractions({ root: of.root, path: [...of.path, ...below] }, {}, context, depth + 1),
  );
}

function slotResults(
  { root, slots }: CompiledTemplate,
  context: CheckContext,
  depth: number,
): readonly KnownResult[] {
  const slot = root.kind === 'slot' ? slots[root.slot] : undefined;
  return slot === undefined ? [] : resultsOf(slot, {}, context, depth + 1);
}

/** Undefined: the type of the field is not known. */
function typeOf(
  { root, path }: Reference,
  use: Pick<TemplateUse, 'child' | 'patch'>,
  context: CheckContext,
): SchemaType | undefined {
  const { child } = use;
  const { parts, types } = context;
  const [id = '', ...below] = path;
  switch (root) {
    case 'resource':
      return typeAt(types.root, path);
    case 'item': {
      const item = itemTypeOf(listOfItems(use), context);
      return item && typeAt(item, path);
    }
    case 'child':
      return child && below.length > 0 ? child.type && typeAt(child.type, path) : undefined;
    case 'children':
    case 'observed': {
      const other = parts.children.find(({ definition }) => definition.id === id);
      const isOne = other?.forEach === undefined && below.length > 0;
      return isOne && other?.type !== undefined ? typeAt(other.type, below) : undefined;
    }
    case 'reads': {
      const read = parts.reads.find(({ definition }) => definition.id === id);
      const isOne = read?.isList === false && below.length > 0;
      return isOne && read.type !== undefined ? typeAt(read.type, below) : undefined;
    }
    default:
      return undefined;
  }
}

/** The type of `$item`: of the elements of the list that `forEach` names, also with an empty list as its default. */
export function itemTypeOf(
  forEach: CompiledTemplate | undefined,
  context: CheckContext,
): SchemaType | undefined {
  const slot = forEach?.root.kind === 'slot' ? forEach.slots[forEach.root.slot] : undefined;
  if (slot?.leaf.kind !== 'value') return undefined;
  const { isPlainPath, source } = slot.leaf.expression;
  const [found, ...others] = resultsOf(slot, {}, context);
  const hasEmptyDefault = others.length === 1 && /\?\?\s*\[\s*\]\s*$/.test(source);
  const isKnown = (isPlainPath && others.length === 0) || hasEmptyDefault;
  return isKnown && found?.found.kind === 'list' ? found.found.item : undefined;
}

/** The values of a var, or of a literal field of it. */
function valuesOfVar(
  { root, slots }: CompiledTemplate,
  below: readonly string[],
  context: CheckContext,
  depth: number,
): readonly KnownValue[] {
  const node = nodeAt(root, below);
  if (node?.kind === 'list') return [{ found: listOfAny }];
  if (node?.kind === 'constant' && Array.isArray(node.value))
    return [{ found: listOf(node.value) }];
  const slot = node?.kind === 'slot' ? slots[node.slot] : undefined;
  if (slot === undefined) return [];
  return resultsOf(slot, {}, context, depth + 1);
}

const listOfAny = {
  kind: 'list',
  builtIn: false,
  list: 'atomic',
  keys: [],
  item: anyType,
} as const satisfies SchemaType;

/** The type of a literal list: its elements have one if all are strings. */
function listOf(items: readonly unknown[]): SchemaType {
  const isText = items.length > 0 && items.every((item) => typeof item === 'string');
  return isText ? { ...listOfAny, item: scalarOf('string') } : listOfAny;
}

const formTypes: Readonly<Record<Exclude<ResultType['kind'], 'path'>, SchemaType>> = {
  string: scalarOf('string'),
  number: scalarOf('number'),
  boolean: scalarOf('boolean'),
  list: listOfAny,
  map: { kind: 'map', builtIn: false, atomic: false, item: anyType, keepsNull: true },
};

function scalarOf(name: ScalarName): SchemaType {
  return { kind: 'scalar', builtIn: false, accepts: [name], format: 'exact' };
}

/** Whether any value of a type can be coerced to another one. */
function mayFit(found: SchemaType, expected: SchemaType): boolean {
  if (isOpen(found) || isOpen(expected)) return true;
  // A list of one element and the element itself are the same in JSONata.
  if (expected.kind === 'list')
    return mayFit(found.kind === 'list' ? found.item : found, expected.item);
  if (expected.kind !== 'scalar') return found.kind === 'map' || found.kind === 'struct';
  if (found.kind !== 'scalar') return false;
  if (found.enum !== undefined) return found.enum.some((value) => isCoercible(value, expected));
  return found.accepts.some((name) => {
    const sample = samples.get(name);
    if (sample === undefined) return true;
    const listed = expected.enum?.some((value) => isOfType(value, name));
    return listed ?? isCoercible(sample, expected);
  });
}

/** Whether a value of an `enum` can be the result of a number or boolean, maybe as a string. */
function isOfType(listed: unknown, name: ScalarName): boolean {
  const text = String(listed);
  if (name === 'boolean') return text === 'true' || text === 'false';
  return text !== '' && Number.isFinite(Number(text));
}

/** Types whose values have no known form. */
function isOpen({ kind }: SchemaType): boolean {
  return kind === 'any' || kind === 'branch';
}

/** Whether a string can be coerced depends on the string. */
const samples: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['boolean', true],
  ['integer', 1],
  ['number', 1],
]);

function isCoercible(value: unknown, type: SchemaType): boolean {
  try {
    const fitted = coerce(value, { type, field: '', quotes: false });
    const listed = type.kind === 'scalar' ? type.enum : undefined;
    // The empty string counts as no value.
    return listed === undefined || fitted === '' || listed.includes(fitted);
  } catch (error) {
    if (error instanceof CoercionError) return false;
    throw error;
  }
}

/** A reference as written. */
export function nameOf({ root, path }: Reference): string {
  const prefix = { resource: [], child: ['$child'], item: ['$item'] }[root as string] ?? [root];
  return [...prefix, ...path].join('.');
}

/** A type, or its values if there are few. */
function expectedName(type: SchemaType): string {
  if (type.kind !== 'scalar' || type.enum === undefined) return typeName(type);
  return `one of ${type.enum.map((value) => JSON.stringify(value)).join(', ')}`;
}

function hintFor(
  found: SchemaType,
  expected: SchemaType,
  name: string | undefined,
): string | undefined {
  if (expected.kind === 'scalar' && expected.accepts.includes('boolean'))
    return conditionHint(found, name ?? '...');
  if (name === undefined) return undefined;
  if (found.kind === 'list' && isNumeric(expected)) return `Write "$count(${name})" for its length`;
  if (found.kind === 'list' && expected.kind === 'scalar')
    return `Write "$join(${name}, ',')" or "${name}[0]"`;
  const field = found.kind === 'scalar' && fieldForScalar(expected, found.accepts[0] ?? 'unknown');
  if (field) return `Write "{ ${field}: '\${ ${name} }' }"`;
  const isBoolean = found.kind === 'scalar' && found.accepts.every((each) => each === 'boolean');
  return isBoolean && isNumeric(expected) ? `Write "${name} ? 1 : 0"` : undefined;
}

/** How a value that is neither true nor false becomes a condition. */
function conditionHint(found: SchemaType, name: string): string | undefined {
  if (isNumeric(found)) return `Compare it with a value: "${name} > 0"`;
  if (found.kind === 'list') return `Write "$count(${name}) > 0"`;
  return found.kind === 'scalar' ? undefined : `Write "$exists(${name})"`;
}
