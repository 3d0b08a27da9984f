export { type PatchSchema, patchSchemaOf } from './patch-schema.ts';
export { StrategicError } from './strategic-error.ts';
export { strategicMerge } from './strategic-merge.ts';
