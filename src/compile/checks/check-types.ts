import type { CheckContext } from '../check-context.ts';
import type { Reference } from '../language/index.ts';
import { anyType } from '../schema/schema-compiler.ts';
import { fieldForScalar, type SchemaType, typeAt } from '../schema/schema-type.ts';
import { CoercionError, coerce, typeName } from '../template/coerce.ts';
import { type CompiledTemplate, nodeAt, type Slot } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { isCondition, type TemplateUse, templateUses } from '../template-uses.ts';

/** So many vars are followed that consist of another one. */
const maxVars = 20;

/** Reports an expression that consists of one field whose type never fits the field that it is written into. */
export function checkTypes(context: CheckContext): void {
  for (const use of templateUses(context.parts)) {
    if (isCondition(use)) continue;
    for (const slot of use.template.slots) {
      const reference = plainReference(slot);
      if (slot.type === undefined || reference === undefined) continue;
      const found = typeOf(reference, use, context);
      if (found === undefined || mayFit(found, slot.type)) continue;
      const name = nameOf(reference);
      context.diagnostics.report({
        code: 'wrong-type',
        message: `Expected ${typeName(slot.type)} at ${slot.place.field}, but "${name}" is ${typeName(found)}`,
        hint: hintFor(found, slot.type, name),
        ...positionInLeaf(slot, reference.offset),
      });
    }
  }
}

/** The field that the expression of a slot consists of. Undefined: it is more than a field. */
function plainReference({ leaf, role }: Slot): Reference | undefined {
  if (role !== 'value' || leaf.kind !== 'value' || !leaf.expression.isPlainPath) return undefined;
  return leaf.expression.references[0];
}

/** Undefined: the type of the field is not known. */
function typeOf(
  { root, path }: Reference,
  use: Pick<TemplateUse, 'child'>,
  context: CheckContext,
  depth = 0,
): SchemaType | undefined {
  const { child } = use;
  const { parts, types } = context;
  const [id = '', ...below] = path;
  switch (root) {
    case 'resource':
      return typeAt(types.root, path);
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
      const isOne = read?.name !== undefined && below.length > 0;
      return isOne && read.type !== undefined ? typeAt(read.type, below) : undefined;
    }
    case 'vars': {
      const template = parts.vars.get(id);
      if (template === undefined || depth === maxVars) return undefined;
      return typeOfVar(template, below, context, depth);
    }
    default:
      return undefined;
  }
}

/** The type of a var, or of a literal field of it. */
function typeOfVar(
  { root, slots }: CompiledTemplate,
  below: readonly string[],
  context: CheckContext,
  depth: number,
): SchemaType | undefined {
  const node = nodeAt(root, below);
  if (node?.kind === 'list' || (node?.kind === 'constant' && Array.isArray(node.value)))
    return listOfAny;
  const slot = node?.kind === 'slot' ? slots[node.slot] : undefined;
  const reference = slot && plainReference(slot);
  return reference && typeOf(reference, {}, context, depth + 1);
}

const listOfAny: SchemaType = {
  kind: 'list',
  builtIn: false,
  list: 'atomic',
  keys: [],
  item: anyType,
};

/** Whether any value of a type can be coerced to another one. */
function mayFit(found: SchemaType, expected: SchemaType): boolean {
  if (isOpen(found) || isOpen(expected)) return true;
  // A list of one element and the element itself are the same in JSONata.
  if (expected.kind === 'list')
    return mayFit(found.kind === 'list' ? found.item : found, expected.item);
  if (expected.kind !== 'scalar') return found.kind === 'map' || found.kind === 'struct';
  if (found.kind !== 'scalar') return false;
  return found.accepts.some((name) => {
    const sample = samples.get(name);
    return sample === undefined || isCoercible(sample, expected);
  });
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
    coerce(value, { type, field: '', quotes: false });
    return true;
  } catch (error) {
    if (error instanceof CoercionError) return false;
    throw error;
  }
}

function nameOf({ root, path }: Reference): string {
  const prefix = { resource: [], child: ['$child'] }[root as string] ?? [root];
  return [...prefix, ...path].join('.');
}

function hintFor(found: SchemaType, expected: SchemaType, name: string): string | undefined {
  const isNumber =
    expected.kind === 'scalar' &&
    expected.accepts.every((each) => each === 'integer' || each === 'number');
  if (found.kind === 'list' && isNumber) return `Write "$count(${name})" for its length`;
  if (found.kind === 'list' && expected.kind === 'scalar')
    return `Write "$join(${name}, ',')" or "${name}[0]"`;
  const field = found.kind === 'scalar' && fieldForScalar(expected, found.accepts[0] ?? 'unknown');
  if (field) return `Write "{ ${field}: '\${ ${name} }' }"`;
  const isBoolean = found.kind === 'scalar' && found.accepts.every((each) => each === 'boolean');
  return isBoolean && isNumber ? `Write "${name} ? 1 : 0"` : undefined;
}
