export { tooLargeAnswer } from './api/index.ts';
export { type CelNode, type CelParser, createCelParser, literalOf } from './cel/index.ts';
export type { BuiltinSchemas, ResourceNames } from './kinds/index.ts';
export type { ApiAnswer, ApiRequest } from './request/index.ts';
export { builtinNames, createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';
