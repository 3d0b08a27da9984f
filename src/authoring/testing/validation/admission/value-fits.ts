import type { ScalarName, SchemaType } from '#compile';

/** What is known of the result of an expression. */
interface ResultType {
  /** As the compiler of CEL has it: `string`, `list(int)`, `dyn`. */
  readonly celType: string;
  /** The type of the field that it selects. */
  readonly schema: SchemaType | undefined;
}

/** Whether a value can be that of a field. True where either is not known. */
export function valueFits(
  { celType, schema }: ResultType,
  wanted: SchemaType | undefined,
): boolean {
  const target = plain(wanted);
  if (target === undefined || target.kind === 'any') return true;
  const form = celForm(celType) ?? schemaForm(plain(schema));
  if (form === undefined) return true;
  if (form === 'list') return target.kind === 'list';
  if (form === 'map') return target.kind === 'map' || target.kind === 'struct';
  if (target.kind !== 'scalar') return false;
  return form.some((each) => accepts(target.accepts, each));
}

/** A type in words. */
export function describeType(type: SchemaType | undefined): string {
  const inner = plain(type);
  switch (inner?.kind) {
    case 'scalar':
      return inner.accepts.join(' or ');
    case 'list':
      return 'a list';
    case 'map':
    case 'struct':
      return 'a map';
    default:
      return 'a value';
  }
}

type Form = 'list' | 'map' | readonly ScalarName[];

function plain(type: SchemaType | undefined): SchemaType | undefined {
  return type?.kind === 'branch' ? type.either : type;
}

/** Timestamps, durations and bytes become texts in JSON. */
const scalars: Readonly<Record<string, readonly ScalarName[]>> = {
  string: ['string'],
  timestamp: ['string'],
  duration: ['string'],
  bytes: ['string'],
  int: ['integer'],
  uint: ['integer'],
  double: ['number'],
  bool: ['boolean'],
  null_type: [],
};

function celForm(type: string): Form | undefined {
  if (type.startsWith('list')) return 'list';
  if (type.startsWith('map')) return 'map';
  return scalars[type];
}

function schemaForm(type: SchemaType | undefined): Form | undefined {
  switch (type?.kind) {
    case 'scalar':
      return type.accepts.includes('unknown') ? undefined : type.accepts;
    case 'list':
      return 'list';
    case 'map':
    case 'struct':
      return 'map';
    default:
      return undefined;
  }
}

function accepts(accepted: readonly ScalarName[], found: ScalarName): boolean {
  if (accepted.includes('unknown') || accepted.includes(found)) return true;
  return found === 'integer' && accepted.includes('number');
}
