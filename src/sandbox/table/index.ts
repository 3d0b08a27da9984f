export { humanDuration } from './cell-values.ts';
export {
  type ColumnDefinition,
  type IncludedObject,
  type TableContent,
  type TableOptions,
  tableOf,
} from './table-printer.ts';
