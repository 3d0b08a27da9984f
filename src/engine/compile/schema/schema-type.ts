/**
 * The schema of a kind, compiled to a tree of types. Used by `coerce` (rendered values), by field checks at compile
 * time, and by `covers` (comparison with live objects). Built once per kind, shared, may be recursive. Contract
 * between compile and reconcile.
 */
export type SchemaType = ScalarType | ListType | MapType | StructType | BranchType | AnyType;

interface TypeBase {
  /**
   * The server decodes values into Go structs (`io.k8s.api.` and similar): it may drop zero values and add defaults.
   * It stores other values as written.
   */
  readonly builtIn: boolean;
}

/** A type that a scalar accepts. `unknown`: the schema has no type. */
export type ScalarName = 'string' | 'integer' | 'number' | 'boolean' | 'unknown';

export interface ScalarType extends TypeBase {
  readonly kind: 'scalar';
  readonly accepts: readonly ScalarName[];
  /** How two values are compared. */
  readonly format: 'exact' | 'quantity' | 'time' | 'base64';
  readonly enum?: readonly unknown[];
}

export interface ListType extends TypeBase {
  readonly kind: 'list';
  readonly list: 'atomic' | 'set' | 'map';
  /** Key fields of a `map` list. */
  readonly keys: readonly string[];
  readonly item: SchemaType;
  /** The items are `nullable: true`. @default false */
  readonly keepsNull?: boolean;
}

/** `additionalProperties`. */
export interface MapType extends TypeBase {
  readonly kind: 'map';
  readonly atomic: boolean;
  readonly item: SchemaType;
  /** The values are `nullable: true`. */
  readonly keepsNull: boolean;
}

export interface StructField {
  readonly type: SchemaType;
  /** The schema's `default`. */
  readonly defaultValue?: unknown;
  /** The field is `nullable: true`. */
  readonly keepsNull: boolean;
}

export interface StructType extends TypeBase {
  readonly kind: 'struct';
  /** The component's name, for messages and tables. */
  readonly name: string;
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, StructField>;
  readonly required: readonly string[];
  /** `x-kubernetes-preserve-unknown-fields`. */
  readonly open: boolean;
  /** Fields that Go omits when they are zero. */
  readonly droppedZeros: ReadonlySet<string>;
  /** Defaults that OpenAPI does not contain. `{"*": true}`: the server chooses the value. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Items that admission appends to a list. */
  readonly injected: Readonly<Record<string, readonly unknown[]>>;
}

/** A JSON schema, a list of them, or a plain value (CRD schemas only). */
export interface BranchType extends TypeBase {
  readonly kind: 'branch';
  readonly either: SchemaType;
}

/** No schema: maps are compared by key, lists and scalars exactly. Never `builtIn`, because values are stored as written. */
export interface AnyType extends TypeBase {
  readonly kind: 'any';
  /** Whether the value itself may be null. Nested nulls are always kept. */
  readonly keepsNull: boolean;
  /** A server-side apply replaces the whole value. */
  readonly atomic: boolean;
}

/** The type of a field, by its path through structs. Undefined where a step is not in the schema, or is no struct. */
export function typeAt(start: SchemaType, path: readonly string[]): SchemaType | undefined {
  return path.reduce<SchemaType | undefined>(
    (type, step) => (type?.kind === 'struct' ? type.fields.get(step)?.type : undefined),
    start,
  );
}

/** The type of the elements, for a list. */
export function throughLists(type: SchemaType | undefined): SchemaType | undefined {
  let inner = type;
  while (inner?.kind === 'list') inner = inner.item;
  return inner?.kind === 'branch' ? inner.either : inner;
}

/** The only field of a struct that a scalar of this type fits: an integer is the `number` of an Ingress's port. Undefined: none, or several. */
export function fieldForScalar(
  type: SchemaType | undefined,
  found: ScalarName,
): string | undefined {
  if (type?.kind !== 'struct') return undefined;
  const fitting = [...type.fields].filter(
    ([, { type: field }]) => field.kind === 'scalar' && field.accepts.includes(found),
  );
  return fitting.length === 1 ? fitting[0]?.[0] : undefined;
}

/**
 * Whether the schema neither requires a field of the path nor has a default for it. Items of lists are not considered, and `spec` itself
 * counts as present: its absence is reported as `optional-parent`.
 */
export function mayBeMissing(start: SchemaType, path: readonly string[]): boolean {
  return optionalSteps(start, path).length > 0;
}

/** The fields of a path, each as a path, that the schema neither requires nor has a default for. */
export function optionalSteps(
  start: SchemaType,
  path: readonly string[],
): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  let type: SchemaType | undefined = start;
  for (const [index, step] of path.entries()) {
    if (type?.kind !== 'struct') return found;
    const field = type.fields.get(step);
    if (field === undefined) return found;
    const isRequired = type.required.includes(step) || type === start;
    if (!isRequired && field.defaultValue === undefined) found.push(path.slice(0, index + 1));
    type = field.type;
  }
  return found;
}

/** Whether a field of this type has numbers only. */
export function isNumeric(type: SchemaType | undefined): boolean {
  return (
    type?.kind === 'scalar' && type.accepts.every((name) => name === 'integer' || name === 'number')
  );
}
