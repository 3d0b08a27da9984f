export { ApplyError, type ApplyErrorCode, type ConflictCause } from './apply-error.ts';
export {
  type ApplyRequest,
  FieldManager,
  type FieldManagerOptions,
  type UpdateRequest,
} from './field-manager.ts';
export type { FieldType } from './field-type.ts';
export { FieldTypeBuilder, type MergeComponents, type MergeSchema } from './field-type-builder.ts';
export { type PathSet, pathSetOf } from './path-set.ts';
