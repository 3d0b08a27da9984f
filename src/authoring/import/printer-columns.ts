import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { ConstructPlace, ImportReport } from './import-report.ts';

/** Columns that Homeostat adds to every kind. */
const appended: ReadonlySet<string> = new Set(['Ready', 'Reason', 'Age']);

/** `additionalPrinterColumns`, without those that Homeostat appends. */
export function convertPrinterColumns(
  columns: unknown,
  report: ImportReport,
  list: ConstructPlace,
): readonly Json[] {
  if (!Array.isArray(columns)) return [];
  return columns.flatMap((column: unknown, index): readonly JsonObject[] => {
    const place = { name: `${list.name}[${index}]`, pointer: pointerTo(list.pointer, index) };
    if (!isJsonObject(column)) {
      report.leftOut(place, 'A column is a map');
      return [];
    }
    const { name, jsonPath } = column;
    if (appended.has(titleCase(name)) || jsonPath === '.status.state') {
      report.converted(place, ['Homeostat appends the columns "Ready", "Reason" and "Age"']);
      return [];
    }
    report.converted(place);
    return [column];
  });
}

/** Examples write READY, Ready and AGE. */
function titleCase(name: unknown): string {
  const text = String(name);
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}
