export { DecodeError, type GoDecoded, goDecode } from './go-decode.ts';
export { type DroppedZeros, type GoType, GoTypeBuilder } from './go-type-builder.ts';
export {
  dropNulls,
  fillDefaults,
  isUntypedNull,
  objectMetaFields,
  pruneObject,
  type StructuralSchema,
  schemaOfField,
} from './structural-schema.ts';
export { validateLists } from './validate-lists.ts';
export { validateValue } from './validate-value.ts';
