export type { ApiAnswer, ApiRequest } from './api-request.ts';
export {
  dryRunErrors,
  type FieldValidation,
  readFlag,
  readNumber,
  readWriteOptions,
  type WriteOptions,
} from './write-options.ts';
