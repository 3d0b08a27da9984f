import {
  type AdmissionDefault,
  defaultPathText,
  type Finding,
  type LocatedDefinition,
  listDefaultHint,
  valueAt,
} from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { SchemaType, StructField } from '../schema/schema-type.ts';
import { balanceProblem } from './balance.ts';

/** Where the fields of the defaults of `admission` are. Their values are checked by `validate`, which has a parser for CEL. */
export function checkAdmissionDefaults(
  { definition, document }: LocatedDefinition,
  resource: SchemaType,
  diagnostics: Diagnostics,
): void {
  for (const [index, each] of (definition.admission?.defaults ?? []).entries()) {
    const path = `/spec/admission/defaults/${index}`;
    const problem = problemOf(each, resource);
    if (problem !== undefined) diagnostics.report({ path: `${path}/path`, ...problem });
    // Positions count in the text as written.
    const unbalanced = balanceProblem(String(valueAt(document, `${path}/value`)));
    if (unbalanced !== undefined) diagnostics.report({ path: `${path}/value`, ...unbalanced });
  }
}

/** The type of the field that a default sets. Undefined: no schema describes it. */
export function typeOfDefault(
  { steps }: AdmissionDefault,
  resource: SchemaType | undefined,
): SchemaType | undefined {
  return steps.reduce<SchemaType | undefined>(
    (type, step) => (type === undefined ? undefined : fieldIn(type, step)?.type),
    resource,
  );
}

function problemOf(
  { steps }: AdmissionDefault,
  resource: SchemaType,
): Omit<Finding, 'path'> | undefined {
  const path = defaultPathText(steps);
  let type: SchemaType | undefined = resource;
  let last: StructField | undefined;
  for (const [index, step] of steps.entries()) {
    const inner: SchemaType | undefined = type?.kind === 'branch' ? type.either : type;
    const before = defaultPathText(steps.slice(0, index));
    if (inner?.kind === 'list')
      return {
        code: 'invalid-value',
        message: `A default cannot be in a list: "${before}" is one`,
        hint: listDefaultHint,
      };
    if (inner?.kind === 'scalar')
      return { code: 'unknown-path', message: `"${before}" has no fields` };
    last = inner === undefined ? undefined : fieldIn(inner, step);
    if (last === undefined && inner?.kind === 'struct' && !inner.open)
      return {
        code: 'unknown-path',
        message: `Unknown field "${step}" in "${path}"`,
        hint: didYouMean(step, [...inner.fields.keys()]),
      };
    type = last?.type;
  }
  if (last?.defaultValue === undefined) return undefined;
  return {
    code: 'invalid-value',
    message: `"${path}" has a default in the schema, so this one never applies`,
    hint: 'Remove one of them',
  };
}

function fieldIn(type: SchemaType, step: string): StructField | undefined {
  switch (type.kind) {
    case 'struct':
      return type.fields.get(step);
    case 'map':
      return { type: type.item, keepsNull: type.keepsNull };
    case 'branch':
      return fieldIn(type.either, step);
    default:
      return undefined;
  }
}
