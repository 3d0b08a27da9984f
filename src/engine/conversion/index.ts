export { checkConversion } from './check-conversion.ts';
export { createObjectCheck, type ObjectCheck, type ObjectProblem } from './check-object.ts';
export type {
  ConversionProblem,
  ConversionRules,
  FieldForm,
  FieldRule,
  VersionRules,
} from './conversion-rules.ts';
export {
  type Converted,
  type Converter,
  type ConverterOptions,
  createConverter,
  isTooLarge,
} from './converter.ts';
export { type ParsedRules, parseConversionRules } from './parse-rules.ts';
export { preservedVersionOf } from './preserved.ts';
export { digestOf, readRules, type StoredRules, writeRules } from './rules-text.ts';
export type { YamlText } from './value-forms.ts';
export { type KindVersions, versionsOfCrd } from './versions-of-crd.ts';
