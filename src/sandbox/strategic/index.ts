export { type PatchSchema, patchSchemaOf, StrategicError } from './item-order.ts';
export { strategicMerge } from './strategic-merge.ts';
