import { didYouMean } from '../../util/did-you-mean.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import type {
  BranchType,
  ListType,
  MapType,
  ScalarType,
  SchemaType,
  StructType,
} from '../schema/schema-type.ts';
import { fieldBelow, fieldBelowKey } from './field-path.ts';
import { describeFound } from './found-value.ts';
import { fitScalar, scalarNames } from './scalar-fit.ts';

/** What to fit into, and how to speak of it. */
export interface FitTarget {
  readonly type: SchemaType | undefined;
  /** For messages: where the value lands. */
  readonly field: string;
  /** May messages quote short values, and keys that the schema does not name? Never those of Secrets. */
  readonly quotes: boolean;
}

/** `unlisted`: not one of the values that the schema lists. */
export type Misfit = 'wrong-type' | 'unknown-field' | 'unlisted';

/** A value that does not fit. */
export class FitError extends HomeostatError<Misfit> {
  readonly hint: string | undefined;
  constructor(code: Misfit, message: string, hint?: string) {
    super(code, message);
    this.hint = hint;
  }
}

/**
 * Fits a result to the schema of the field that it lands in, at every depth (definition.md section 2, "Types").
 * Gives the value itself where nothing is to change. Undefined stays undefined.
 * @throws FitError where it does not fit.
 */
export function fit(value: unknown, target: FitTarget): unknown {
  const { type } = target;
  if (type === undefined || value === undefined) return value;
  switch (type.kind) {
    case 'any':
      return value;
    case 'scalar':
      return value === null ? value : fitScalarField(value, type, target);
    case 'list':
      return value === null ? value : fitList(value, type, target);
    case 'map':
      return value === null ? value : fitMap(value, type, target);
    case 'struct':
      return value === null ? value : fitStruct(value, type, target);
    case 'branch':
      return fitBranch(value, type, target);
  }
}

function fitScalarField(value: unknown, type: ScalarType, target: FitTarget): unknown {
  const fitted = fitScalar(value, type);
  if (fitted === undefined) throw mismatch(scalarNames(type), value, target);
  return fitted;
}

function fitList(value: unknown, type: ListType, target: FitTarget): unknown {
  // JSONata turns a list of one into its element.
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const fitted = items.map((item, index) => {
    const field = fieldBelow(target.field, index);
    const inner = { ...target, type: type.item, field };
    if (item === null && type.item.kind !== 'any') throw mismatch(nameOf(type.item), item, inner);
    return fit(item, inner);
  });
  return Array.isArray(value) && fitted.every((item, index) => item === value[index])
    ? value
    : fitted;
}

function fitMap(value: unknown, type: MapType, target: FitTarget): unknown {
  return fitFields(objectOf(value, target), (key, field) => {
    if (field === null && !type.keepsNull) return undefined;
    const inner = fieldBelowKey(target.field, key, target.quotes);
    return fit(field, { ...target, type: type.item, field: inner });
  });
}

function fitStruct(value: unknown, type: StructType, target: FitTarget): unknown {
  return fitFields(objectOf(value, target), (key, field) => {
    const known = type.fields.get(key);
    if (known === undefined) {
      if (!type.open) throw unknownField(type, key, target);
      return field;
    }
    if (field === null && !known.keepsNull) return undefined;
    return fit(field, { ...target, type: known.type, field: fieldBelow(target.field, key) });
  });
}

/** A schema, a list of schemas or names, or a plain value. */
function fitBranch(value: unknown, type: BranchType, target: FitTarget): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      fitBranch(item, type, { ...target, field: fieldBelow(target.field, index) }),
    );
  }
  return typeof value === 'object' ? fit(value, { ...target, type: type.either }) : value;
}

type Fields = Readonly<Record<string, unknown>>;

/** `null` is a missing value: the field is left out, unless null is one of its values. */
function fitFields(object: Fields, fitField: (key: string, value: unknown) => unknown): Fields {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const value = object[key];
    const fitted = fitField(key, value);
    if (fitted === value) continue;
    changed ??= { ...object };
    if (fitted === undefined) delete changed[key];
    else changed[key] = fitted;
  }
  return changed ?? object;
}

function objectOf(value: unknown, target: FitTarget): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw mismatch('a map', value, target);
  }
  return value as Fields;
}

/** A field that a kind does not have: the server refuses the whole object for it. `field`: of the map that has it. */
export function unknownField(
  type: StructType,
  key: string,
  { field, quotes }: Omit<FitTarget, 'type'>,
): FitError {
  if (!quotes) return new FitError('unknown-field', `Unknown field in ${field || 'the manifest'}`);
  const hint = didYouMean(key, type.fields.keys());
  return new FitError('unknown-field', `Unknown field ${fieldBelow(field, key)}`, hint);
}

function mismatch(expected: string, value: unknown, { field, quotes }: FitTarget): FitError {
  const found = describeFound(value, quotes);
  return new FitError('wrong-type', `Expected ${expected} at ${field}, found ${found}`);
}

/** What a type takes, for people. */
export function nameOf(type: SchemaType): string {
  switch (type.kind) {
    case 'scalar':
      return scalarNames(type);
    case 'list':
      return 'a list';
    case 'map':
    case 'struct':
    case 'branch':
      return 'a map';
    case 'any':
      return 'a value';
  }
}
