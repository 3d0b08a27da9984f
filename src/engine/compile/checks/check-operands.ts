import type { CheckContext } from '../check-context.ts';
import type { Operand, OperandType } from '../language/index.ts';
import { fieldForScalar, type ScalarName, type SchemaType } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import { expressionsOf } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { knownResults, nameOf } from './check-types.ts';

/** Reports an operand that never has the type that its function or operator needs: `$length(spec.tags)` of a list. */
export function checkOperands(context: CheckContext): void {
  for (const use of context.templates) {
    for (const slot of use.template.slots) {
      for (const { operands, references } of expressionsOf(slot.leaf)) {
        for (const { results, ...operand } of operands) {
          const wrong = knownResults({ results, references }, use, context).find(
            ({ found }) => !accepts(operand.expected, found),
          );
          if (wrong === undefined) continue;
          const { found, reference, offset } = wrong;
          const name = reference && nameOf(reference);
          context.diagnostics.report({
            code: 'wrong-type',
            message: `Expected a ${operand.expected} for "${operand.of}", but ${name === undefined ? 'the value' : `"${name}"`} is ${nameOfType(found)}`,
            hint: hintFor(operand, found, name ?? '...'),
            ...positionInLeaf(slot, offset),
          });
        }
      }
    }
  }
}

const scalars: Readonly<Record<OperandType, readonly ScalarName[]>> = {
  string: ['string', 'unknown'],
  number: ['integer', 'number', 'unknown'],
  map: ['unknown'],
  'list of strings': ['string', 'unknown'],
  'list of numbers': ['integer', 'number', 'unknown'],
};

function accepts(expected: OperandType, found: SchemaType): boolean {
  switch (found.kind) {
    case 'any':
    case 'branch':
      return true;
    case 'scalar':
      return found.accepts.some((name) => scalars[expected].includes(name));
    case 'list':
      return isList(expected) && accepts(expected, found.item);
    default:
      return expected === 'map';
  }
}

function isList(expected: OperandType): boolean {
  return expected === 'list of strings' || expected === 'list of numbers';
}

function hintFor(
  { of, expected }: Omit<Operand, 'results'>,
  found: SchemaType,
  name: string,
): string | undefined {
  if (found.kind === 'list' && isList(expected)) return elementHint(expected, found.item, name);
  if (expected === 'map') return undefined;
  if (found.kind === 'list' && of === '$contains') return `Write "value in ${name}"`;
  if (found.kind === 'list')
    return expected === 'string' && of !== '$length'
      ? `Write "$join(${name}, ',')"`
      : `Write "$count(${name})" for its length`;
  if (found.kind !== 'scalar') return undefined;
  if (scalars[expected].includes('string')) return `Write "$string(${name})"`;
  if (of === '+') return 'Write "&" to join strings';
  return found.accepts.includes('string') ? `Write "$number(${name})"` : undefined;
}

/** How the elements of a list become strings or numbers. */
function elementHint(expected: OperandType, item: SchemaType, name: string): string | undefined {
  if (item.kind === 'scalar')
    return expected === 'list of strings' ? `Write "$map(${name}, $string)"` : undefined;
  const field = fieldForScalar(item, expected === 'list of strings' ? 'string' : 'integer');
  return field === undefined ? undefined : `Write "${name}.${field}"`;
}

function nameOfType(type: SchemaType): string {
  return type.kind === 'list' && type.item.kind !== 'any'
    ? `a list of ${typeName(type.item).replace(/^an? /, '')}s`
    : typeName(type);
}
