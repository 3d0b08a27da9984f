export {
  type ApiAnswer,
  type ApiRequest,
  dryRunErrors,
  type FieldValidation,
  readFlag,
  readNumber,
  readWriteOptions,
  type WriteOptions,
} from './write-options.ts';
