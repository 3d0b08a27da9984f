/**
 * A kind's schema compiled to a tree of types: what `fit` (types of rendered values), the field checks at load, and `covers` (comparison with live objects,
 * docs/reference: apply normalisation) walk. Built once per kind, shared, may be recursive. CONTRACT between compile and reconcile.
 */
export type SchemaType = ScalarType | ListType | MapType | StructType | BranchType | AnyType;

interface TypeBase {
  /** Decoded into Go structs by the server (`io.k8s.api.` and friends): zero values may be dropped, defaults filled in. Custom values are stored as written. */
  readonly builtIn: boolean;
}

/** What a scalar accepts; several when the schema says so (int-or-string). `unknown`: no type given. */
export type ScalarName = 'string' | 'integer' | 'number' | 'boolean' | 'unknown';

export interface ScalarType extends TypeBase {
  readonly kind: 'scalar';
  readonly accepts: readonly ScalarName[];
  /** How two spellings are compared. */
  readonly format: 'exact' | 'quantity' | 'time' | 'base64';
  readonly enum?: readonly unknown[];
}

export interface ListType extends TypeBase {
  readonly kind: 'list';
  readonly list: 'atomic' | 'set' | 'map';
  /** Key fields of a `map` list. */
  readonly keys: readonly string[];
  readonly item: SchemaType;
}

/** `additionalProperties`. */
export interface MapType extends TypeBase {
  readonly kind: 'map';
  readonly atomic: boolean;
  readonly item: SchemaType;
  /** `nullable: true` on the values: null is one of them. */
  readonly keepsNull: boolean;
}

export interface StructField {
  readonly type: SchemaType;
  /** The schema's `default`. */
  readonly byDefault?: unknown;
  /** `nullable: true`: null is a value. */
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
  /** Fields whose zero value Go does not write. */
  readonly zeros: ReadonlySet<string>;
  /** Defaults that OpenAPI does not tell. `{"*": true}`: the server picks. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Items that admission appends to a list. */
  readonly injected: Readonly<Record<string, readonly unknown[]>>;
}

/** A JSON schema, a list of them, or a plain value (CRD schemas only). */
export interface BranchType extends TypeBase {
  readonly kind: 'branch';
  readonly either: SchemaType;
}

/** The schema says nothing: maps key by key, lists and scalars exactly as they are. Never `builtIn`: it is stored as written. */
export interface AnyType extends TypeBase {
  readonly kind: 'any';
  /** May null stand in its own place? Inside it null always is a value. */
  readonly keepsNull: boolean;
  /** Replaced as a whole by an apply. */
  readonly atomic: boolean;
}
