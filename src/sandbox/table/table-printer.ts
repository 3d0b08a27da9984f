import type { Json, JsonObject } from '#util/json.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { builtinPrinter } from './builtin-printers.ts';
import type { RowPrinter } from './cell-values.ts';
import { customPrinter } from './custom-printer.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 = always shown; higher = only with `-o wide`. */
  readonly priority: number;
}

/** Prints objects of a kind as a table. */
export interface Printer {
  readonly columns: readonly ColumnDefinition[];
  readonly row: RowPrinter;
}

/** The part of an object that is included in its row. */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly kind: ServedKind;
  /** The version of `meta.k8s.io`. */
  readonly version: 'v1' | 'v1beta1';
  readonly include: IncludedObject;
  readonly nowMs: number;
}

interface TableContent {
  readonly objects: readonly JsonObject[];
  /** The metadata of the list or the object. */
  readonly metadata: JsonObject;
  /** A watch sends the columns once. @default true */
  readonly hasColumns?: boolean;
}

/** Objects of a kind as a `Table`. */
export function tableOf(options: TableOptions, content: TableContent): JsonObject {
  const { kind, version } = options;
  const { objects, metadata, hasColumns = true } = content;
  const printer = printerOf(kind);
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: hasColumns ? (printer.columns as unknown as Json) : null,
    rows: objects.map((object) => {
      const row = printer.row(object, options.nowMs);
      return { ...row, object: included(options, object) };
    }),
  };
}

function printerOf(kind: ServedKind): Printer {
  if (kind.columns !== undefined) return customPrinter(kind.columns);
  return builtinPrinter(`${kind.apiVersion}/${kind.names.kind}`);
}

function included({ include, version, kind }: TableOptions, object: JsonObject): Json {
  switch (include) {
    case 'None':
      return null;
    case 'Metadata': {
      const { metadata = {} } = object;
      return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
    }
    case 'Object':
      return { ...object, kind: kind.names.kind, apiVersion: kind.apiVersion };
  }
}
