import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { CustomColumn } from '../kinds/served-kind.ts';
import builtin from './builtin-columns.generated.json' with { type: 'json' };
import { ageOf, nameOf, timeSince } from './cell-values.ts';
import { type JsonPath, parseJsonPath } from './json-path.ts';
import type { ColumnDefinition, Printer } from './table-printer.ts';

const ageColumn: CustomColumn = {
  name: 'Age',
  type: 'date',
  format: '',
  priority: 0,
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: '.metadata.creationTimestamp',
};

/** The columns of a CRD; only the age when it has none. */
export function customPrinter(columns: readonly CustomColumn[]): Printer {
  const [nameColumn] = builtin.columns;
  const shownColumns = columns.length === 0 ? [ageColumn] : columns;
  const readers = shownColumns.map((column) => ({ column, path: parseJsonPath(column.jsonPath) }));
  return {
    columns: [...(nameColumn === undefined ? [] : [nameColumn]), ...shownColumns.map(definitionOf)],
    row: (object, nowMs) => ({
      cells: [
        nameOf(object),
        ...readers.map(({ column, path }) => cellOf({ column, path, object, nowMs })),
      ],
    }),
  };
}

function definitionOf({ name, type, format, priority, description, jsonPath }: CustomColumn) {
  const definition: ColumnDefinition = {
    name,
    type,
    format,
    priority,
    description:
      description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  };
  return definition;
}

interface CellSource {
  readonly column: CustomColumn;
  readonly path: JsonPath;
  readonly object: JsonObject;
  readonly nowMs: number;
}

function cellOf({ column, path, object, nowMs }: CellSource): Json {
  if (column.jsonPath === ageColumn.jsonPath && column.type === 'date') return ageOf(object, nowMs);
  const value = path(object)[0] ?? null;
  if (value === null && column.type !== 'string') return null;
  switch (column.type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateText(value, nowMs) : null;
    default:
      return path(object).length === 0 ? null : textOf(value);
  }
}

function dateText(value: string, nowMs: number): string {
  return Number.isNaN(Date.parse(value)) ? '<invalid>' : timeSince(value, nowMs);
}

function textOf(value: Json): string {
  if (value === null) return '<no value>';
  return isJsonObject(value) || Array.isArray(value) ? canonicalJson(value) : String(value);
}
