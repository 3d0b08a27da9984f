export { fillDefaults } from './fill-defaults.ts';
export { DecodeError, type GoDecoded, goDecode } from './go-decode.ts';
export type { GoType } from './go-type.ts';
export { type DroppedZeros, GoTypeBuilder } from './go-type-builder.ts';
export { dropNulls, pruneObject } from './prune.ts';
export { objectHead, type StructuralSchema, schemaOfField } from './structural-schema.ts';
export { validateLists } from './validate-lists.ts';
export { validateValue } from './validate-value.ts';
