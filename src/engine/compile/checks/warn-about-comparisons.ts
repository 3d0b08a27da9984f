import { didYouMean } from '#util/did-you-mean.ts';
import type { CheckContext } from '../check-context.ts';
import type { Comparison } from '../language/index.ts';
import { mayBeMissing, type ScalarType } from '../schema/schema-type.ts';
import { typeName } from '../template/coerce.ts';
import { expressionsOf } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { isCondition } from '../template-uses.ts';
import { nameOf, typesOf } from './check-types.ts';
import { defaultAdvice } from './default-advice.ts';

/**
 * Warns about a comparison of a field with a value that it never has: `spec.size = "1"` is always false where the size is a number. Also
 * about a condition that has no result without an optional field: `when: ${ spec.size > 0 }`.
 */
export function warnAboutComparisons(context: CheckContext): void {
  for (const use of context.templates) {
    const expressions = use.template.slots.flatMap((slot) =>
      expressionsOf(slot.leaf).map((expression) => ({ slot, ...expression })),
    );
    for (const { slot, references, comparisons } of expressions) {
      for (const comparison of comparisons) {
        const reference = references.find(({ offset }) => offset === comparison.path);
        const [type, ...others] = reference === undefined ? [] : typesOf(reference, use, context);
        if (reference === undefined || type?.kind !== 'scalar' || others.length > 0) continue;
        const isOptional =
          // The server has defaults for fields of built-in kinds.
          context.definition.kind.source === 'crd' &&
          reference.root === 'resource' &&
          isCondition(use) &&
          mayBeMissing(context.types.root, reference.path);
        const name = nameOf(reference);
        const problem =
          problemOf(comparison, type, name) ??
          (isOptional
            ? resultProblem(comparison, name, defaultAdvice(context.types.root, reference.path))
            : undefined);
        if (problem === undefined) continue;
        context.diagnostics.report({
          severity: 'warning',
          code: 'suspicious-expression',
          ...problem,
          ...positionInLeaf(slot, comparison.path),
        });
      }
    }
  }
}

interface Problem {
  readonly message: string;
  readonly hint?: string | undefined;
}

function problemOf(
  { literal, operator }: Comparison,
  type: ScalarType,
  name: string,
): Problem | undefined {
  const shown = JSON.stringify(literal);
  const value = typeof literal === 'string' ? shown : `"${shown}"`;
  if (!accepts(type, literal)) {
    return {
      message: `"${name}" is ${typeName(type)} and ${isEquality(operator) ? 'never equals' : 'cannot be compared with'} the ${typeof literal} ${value}`,
      hint: otherForm(type, literal),
    };
  }
  const { enum: known } = type;
  if (known === undefined || known.includes(literal) || !isEquality(operator)) return undefined;
  return {
    message: `"${name}" is never ${value}: its schema does not have this value`,
    hint: didYouMean(String(literal), known.map(String)),
  };
}

/** An order with a missing value is neither true nor false. */
function resultProblem(
  { isWhole, operator, literal }: Comparison,
  name: string,
  advice: string,
): Problem | undefined {
  if (!isWhole || isEquality(operator)) return undefined;
  const hint = `Write "(${name} ?? 0)", or ${advice}`;
  return {
    message: `"${name}" is optional, and the comparison is an error without it`,
    hint: typeof literal === 'number' ? hint : advice.charAt(0).toUpperCase() + advice.slice(1),
  };
}

function isEquality(operator: string): boolean {
  return operator === '=' || operator === '!=';
}

function accepts({ accepts: names }: ScalarType, literal: Comparison['literal']): boolean {
  const type = typeof literal;
  return names.some(
    (name) => name === type || name === 'unknown' || (type === 'number' && name === 'integer'),
  );
}

/** The literal as a value of the type: `1` for `"1"`. */
function otherForm(type: ScalarType, literal: Comparison['literal']): string | undefined {
  const forms = [String(literal), ...(literal === '' ? [] : [Number(literal)]), literal === 'true'];
  const form = forms.find((each) => String(each) === String(literal) && accepts(type, each));
  return form === undefined ? undefined : `Write ${JSON.stringify(form)}`;
}
