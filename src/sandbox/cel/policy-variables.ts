import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { PolicyCompiler, PolicyExpression } from './policy-cel.ts';

/** A variable of a policy, compiled. */
export interface PolicyVariable {
  readonly name: string;
  readonly compiled: PolicyExpression;
}

interface VariableTypes {
  readonly variables: readonly PolicyVariable[];
  /** By name; a variable that does not compile can have any value. */
  readonly types: ReadonlyMap<string, string>;
  /** Why the server would not compile a variable, by its position. */
  readonly problems: ReadonlyMap<number, string>;
}

/** Compiles the variables of a policy in their order: each may use those before it. */
export function variableTypes(spec: JsonObject, compiler: PolicyCompiler): VariableTypes {
  const types = new Map<string, string>();
  const problems = new Map<number, string>();
  const variables: PolicyVariable[] = [];
  const hasParams = objectField(spec, 'paramKind') !== undefined;
  for (const [index, variable] of listField(spec, 'variables').filter(isJsonObject).entries()) {
    const name = stringField(variable, 'name') ?? '';
    const text = stringField(variable, 'expression') ?? '';
    const scope = {
      variables: new Map(types),
      hasParams,
      hasAuthorizer: true,
      hasPatchTypes: false,
    };
    const compiled = compiler.compile(text, scope);
    if (compiled.kind === 'invalid') problems.set(index, compiled.problem);
    types.set(name, compiled.kind === 'program' ? compiled.type : 'dyn');
    variables.push({ name, compiled });
  }
  return { variables, types, problems };
}

/** Why the server rejects an expression that must return one of these types. Undefined: it does not, as far as the sandbox can determine. */
export function resultProblem(
  compiled: PolicyExpression,
  types: readonly string[],
): string | undefined {
  switch (compiled.kind) {
    case 'invalid':
      return compiled.problem;
    case 'unsupported':
      return undefined;
    case 'program': {
      const { type } = compiled;
      if (isOneOf(type, types)) return undefined;
      const expected = types.length === 1 ? types[0] : `one of [${types.join(' ')}]`;
      // An empty list.
      const found = type.replace('(T)', '(dyn)');
      return `must evaluate to ${expected} but got ${found}`;
    }
  }
}

/** The types of some results are not known here: of lists of patches, and of objects. */
function isOneOf(type: string, types: readonly string[]): boolean {
  if (types.includes(type)) return true;
  if (types.includes('list(JSONPatch)')) return type === 'list(dyn)';
  return types.includes('Object') && type.startsWith('map');
}
