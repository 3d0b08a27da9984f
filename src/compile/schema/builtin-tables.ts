import tables from './builtin-tables.generated.json' with { type: 'json' };

/**
 * What OpenAPI does not tell about built-in types, by component name. A missing row costs one idle apply per process start;
 * a wrong row hides drift: add rows only with a test against a real server.
 */
export interface BuiltinTables {
  /** Optional fields that are no pointers in Go: their zero value is not written. */
  readonly zeroDropped: Readonly<Record<string, readonly string[]>>;
  /** What the server fills in where that matters: zeros that mean a default, and inside atomic values. */
  readonly defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Items that admission appends to a list, by field. */
  readonly injected: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>;
}

/** The tables of the server version named in the file. */
export const builtinTables: BuiltinTables = tables;
