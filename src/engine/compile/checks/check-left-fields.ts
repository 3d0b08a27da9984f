import { didYouMean } from '#util/did-you-mean.ts';
import { type FieldSteps, fieldName, parseFieldPath } from '#util/field-path.ts';
import type { CheckContext } from '../check-context.ts';
import type { CompiledChild } from '../compiled-templates.ts';
import type { ListType, SchemaType } from '../schema/schema-type.ts';
import { mayHave } from '../template/template.ts';

/** The fields of `fields.leave` are in the template and in the schema, and can be applied without each other. */
export function checkLeftFields({ parts, diagnostics }: CheckContext): void {
  for (const child of parts.objects) {
    for (const [index, path] of (child.definition.leave ?? []).entries()) {
      const steps = parseFieldPath(path);
      const problem =
        steps && (problemOfType(steps, child.type) ?? problemOfTemplate(steps, child));
      if (problem === undefined) continue;
      diagnostics.report({ ...problem, path: `${child.pointer}/fields/leave/${index}` });
    }
  }
}

interface Problem {
  readonly code: 'unknown-child-field' | 'invalid-value';
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Follows a path through the schema of the kind. */
function problemOfType(steps: FieldSteps, start: SchemaType | undefined): Problem | undefined {
  let type = start;
  for (const [index, step] of steps.entries()) {
    const name = fieldName(steps.slice(0, index));
    if (type !== undefined && index > 0 && isWhole(type))
      return invalid(`"${name}" is applied as a whole`, `Leave all of it: "${name}"`);
    switch (type?.kind) {
      case 'struct': {
        const field: SchemaType | undefined =
          typeof step === 'string' ? type.fields.get(step)?.type : undefined;
        if (field === undefined && !type.open && typeof step === 'string')
          return unknownField(steps.slice(0, index + 1), didYouMean(step, type.fields.keys()));
        if (field === undefined && typeof step !== 'string') return invalid(`"${name}" is no list`);
        type = field;
        break;
      }
      case 'map':
        type = type.item;
        break;
      case 'list': {
        if (!isItemOf(step, type))
          return invalid(
            `Items of "${name}" are identified by ${type.keys.map((key) => `"${key}"`).join(' and ')}`,
            `Write "${name}[${type.keys.map((key) => `${key}=...`).join(',')}]"`,
          );
        type = type.item;
        break;
      }
      case 'scalar':
        return unknownField(steps.slice(0, index + 1));
      default:
        return undefined;
    }
  }
  return undefined;
}

/** Is a value of this type replaced as a whole by an apply? */
function isWhole(type: SchemaType): boolean {
  switch (type.kind) {
    case 'list':
      return type.list !== 'map';
    case 'map':
    case 'struct':
    case 'any':
      return type.atomic;
    default:
      return false;
  }
}

function isItemOf(step: FieldSteps[number], { keys }: ListType): boolean {
  if (typeof step !== 'object' || !('keys' in step)) return false;
  return Object.keys(step.keys).every((key) => keys.includes(key));
}

function problemOfTemplate(
  steps: FieldSteps,
  { template, definition }: CompiledChild,
): Problem | undefined {
  if (definition.gvk.kind === 'Secret' && steps[0] === 'stringData')
    return invalid(
      'The API server stores "stringData" in "data"',
      `Write "${fieldName(['data', ...steps.slice(1)])}"`,
    );
  const end = steps.findIndex((step) => typeof step !== 'string');
  const names = (end < 0 ? steps : steps.slice(0, end)).map(String);
  // The API server moves the texts of "stringData" there.
  const isText = definition.gvk.kind === 'Secret' && names[0] === 'data';
  const forms = isText ? [names, ['stringData', ...names.slice(1)]] : [names];
  if (forms.some((form) => mayHave(template.root, form))) return undefined;
  return invalid(
    `The template does not set "${fieldName(steps)}"`,
    'Set it to the value that a new object gets',
  );
}

function invalid(message: string, hint?: string): Problem {
  return { code: 'invalid-value', message, hint };
}

function unknownField(steps: FieldSteps, hint?: string): Problem {
  return { code: 'unknown-child-field', message: `Unknown field "${fieldName(steps)}"`, hint };
}
