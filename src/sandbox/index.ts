export { type CreateVerdict, forbiddenAnswer, tooLargeAnswer } from './api/handler.ts';
export { type CelNode, type CelParser, createCelParser, literalOf } from './cel/parse-cel.ts';
export { createPolicyCompiler, type PolicyCompiler } from './cel/policy-cel.ts';
export type { BuiltinSchemas } from './kinds/builtin-kinds.ts';
export type { ResourceNames } from './kinds/served-kind.ts';
export { createRuleEvaluator } from './policies/offline-rules.ts';
export type { ApiAnswer, ApiRequest } from './request/write-options.ts';
export { builtinNames, createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';
