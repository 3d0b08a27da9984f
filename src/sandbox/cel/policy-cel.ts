import type { Environment } from '@marcbachmann/cel-js';
import { messageOf } from '#util/homeostat-error.ts';
import { baseEnvironment } from './cel-environment.ts';
import { compileProblem } from './compile-problem.ts';
import {
  authorizerTypes,
  escapeKey,
  JsonPatchOperation,
  namespaceFields,
  requestFields,
} from './policy-types.ts';
import { rewriteStructs, structFunctions } from './struct-literals.ts';

/** What an expression of a policy may use besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface PolicyScope {
  /** The names of `variables.NAME`, with the types of their values. Undefined: there is no `variables`. */
  readonly variables: ReadonlyMap<string, string> | undefined;
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** `JSONPatch{}`, `Object{}`, `jsonpatch.escapeKey()`. */
  readonly hasPatchTypes: boolean;
}

/** Values of the variables of an expression. */
export type PolicyValues = Readonly<Record<string, unknown>>;

/** A compiled expression: a program, or why the server would reject it, or why the sandbox cannot evaluate it. */
export type PolicyExpression =
  | {
      readonly kind: 'program';
      /** The type of its results, as the server writes it: `list(string)`. */
      readonly type: string;
      /** @throws Error with the server's message */
      evaluate(values: PolicyValues): unknown;
    }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'unsupported' };

/** Compiles expressions of policies. */
export interface PolicyCompiler {
  compile(text: string, scope: PolicyScope): PolicyExpression;
}

/** A compiler of its own; the environments are built with the first expression. */
export function createPolicyCompiler(): PolicyCompiler {
  let environments: { readonly typed: Environment; readonly untyped: Environment } | undefined;
  return {
    compile(text, scope) {
      environments ??= { typed: typedEnvironment(), untyped: untypedEnvironment() };
      return compileIn(environments.typed, environments.untyped, text, scope);
    },
  };
}

function compileIn(
  base: Environment,
  untyped: Environment,
  original: string,
  scope: PolicyScope,
): PolicyExpression {
  const { text, originalOffset } = scope.hasPatchTypes
    ? rewriteStructs(original)
    : { text: original, originalOffset: (at: number) => at };
  const typed = scopeEnvironment(base, scope);
  const { valid, type = 'dyn', error } = typed.check(text);
  if (!valid) {
    const found = compileProblem(error, { text, original, originalOffset });
    return found === undefined ? { kind: 'unsupported' } : { kind: 'invalid', problem: found };
  }
  const program = untyped.parse(text);
  return {
    kind: 'program',
    type: serverType(type),
    evaluate(values) {
      try {
        return program(values);
      } catch (error) {
        throw new Error(runtimeProblem(error), { cause: error });
      }
    },
  };
}

/** With the types that the server knows, to check expressions. */
function typedEnvironment(): Environment {
  const environment = baseEnvironment({ unlistedVariablesAreDyn: false });
  environment.registerVariable('object', 'dyn').registerVariable('oldObject', 'dyn');
  environment.registerVariable('request', { schema: requestFields });
  environment.registerVariable('namespaceObject', { schema: namespaceFields });
  return withPatchTypes(environment);
}

/** Values are what they are: to evaluate expressions. */
function untypedEnvironment(): Environment {
  const environment = baseEnvironment({ unlistedVariablesAreDyn: true });
  registerAuthorizer(environment);
  return withPatchTypes(environment);
}

function scopeEnvironment(base: Environment, scope: PolicyScope): Environment {
  const environment = base.clone();
  if (scope.hasParams) environment.registerVariable('params', 'dyn');
  if (scope.hasAuthorizer) {
    registerAuthorizer(environment);
    environment.registerVariable('authorizer', 'Authorizer');
  }
  if (scope.variables === undefined) return environment;
  class Variables {}
  const fields = Object.fromEntries(
    [...scope.variables].map(([name, type]) => [name, libraryType(type)]),
  );
  environment.registerType('Variables', { ctor: Variables, fields });
  environment.registerVariable('variables', 'Variables');
  return environment;
}

function registerAuthorizer(environment: Environment): void {
  for (const [name, type] of Object.entries(authorizerTypes.types))
    environment.registerType(name, type);
  for (const [signature, handler] of authorizerTypes.functions)
    environment.registerFunction(signature, handler);
}

/** Struct literals are calls of these functions; an expression without patch types cannot name them. */
function withPatchTypes(environment: Environment): Environment {
  class JsonPatchNamespace {}
  environment.registerType('JSONPatch', JsonPatchOperation);
  environment.registerType('JsonPatchNamespace', JsonPatchNamespace);
  environment.registerConstant('jsonpatch', 'JsonPatchNamespace', new JsonPatchNamespace());
  environment.registerFunction(
    'JsonPatchNamespace.escapeKey(string): string',
    (_: unknown, key: string) => escapeKey(key),
  );
  environment.registerFunction(
    `${structFunctions.patch}(map): JSONPatch`,
    (fields: Readonly<Record<string, unknown>>) => new JsonPatchOperation(fields),
  );
  environment.registerFunction(`${structFunctions.object}(map): map`, (fields: unknown) => fields);
  return environment;
}

/** `list<string>` -> `list(string)`, as the server writes types. */
function serverType(type: string): string {
  if (type === 'list') return 'list(dyn)';
  if (type === 'map') return 'map(dyn, dyn)';
  return type
    .replaceAll('optional<', 'optional_type<')
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replaceAll(/\bnull\b/g, 'null_type')
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration');
}

/** The inverse, for types of variables; types that the library cannot name are dynamic. */
function libraryType(type: string): string {
  return /^(?:bool|int|uint|double|string|bytes|dyn|list\(string\))$/.test(type)
    ? type.replace('(', '<').replace(')', '>')
    : 'dyn';
}

/** The server's words for what fails at run time. */
function runtimeProblem(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  const [line = ''] = messageOf(error).split('\n');
  switch (code) {
    case 'no_such_overload':
    case 'no_matching_overload':
    case 'invalid_logical_operand':
    case 'invalid_ternary_condition':
      return 'no such overload';
    case 'index_out_of_bounds':
      return `index out of bounds: ${/index (-?\d+)/.exec(line.replace(/^.*bounds, /, ''))?.[1] ?? ''}`;
    default:
      return line.charAt(0).toLowerCase() + line.slice(1);
  }
}
