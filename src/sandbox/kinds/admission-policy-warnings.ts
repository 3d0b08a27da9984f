import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { PolicyCompiler } from '../cel/policy-cel.ts';
import { variableTypes } from '../cel/policy-variables.ts';
import { listField, objectField, stringField } from '../json-fields.ts';

/** What the sandbox does not do with a policy, as warnings. */
export function policyWarnings(policy: JsonObject, compiler: PolicyCompiler): readonly string[] {
  const spec = objectField(policy, 'spec') ?? {};
  const items = (name: string) => listField(spec, name).filter(isJsonObject);
  const applied = items('mutations').filter(({ patchType }) => patchType === 'ApplyConfiguration');
  return [
    ...(objectField(spec, 'paramKind') === undefined
      ? []
      : ['The sandbox does not enforce this policy: it reads no params']),
    ...(applied.length === 0
      ? []
      : ['The sandbox does not apply mutations of the type ApplyConfiguration']),
    ...(items('auditAnnotations').length === 0 ? [] : ['The sandbox records no audit annotations']),
    ...unsupportedExpressions(spec, compiler).map(
      (text) => `The sandbox cannot evaluate this CEL expression and does not enforce it: ${text}`,
    ),
  ];
}

function unsupportedExpressions(spec: JsonObject, compiler: PolicyCompiler): readonly string[] {
  const { variables, types } = variableTypes(spec, compiler);
  const text = (item: JsonObject, name: string) => stringField(item, name) ?? '';
  const items = (name: string) => listField(spec, name).filter(isJsonObject);
  const scope = {
    variables: types,
    hasParams: objectField(spec, 'paramKind') !== undefined,
    hasAuthorizer: true,
    hasPatchTypes: true,
  };
  const expressions = [
    ...items('matchConditions').map((item) => text(item, 'expression')),
    ...items('validations').flatMap((item) => [
      text(item, 'expression'),
      text(item, 'messageExpression'),
    ]),
    ...items('mutations').map((item) =>
      text(objectField(item, 'jsonPatch') ?? {}, 'expression').trim(),
    ),
  ].filter((each) => each !== '');
  return [
    ...items('variables')
      .filter((_, index) => variables[index]?.compiled.kind === 'unsupported')
      .map((item) => text(item, 'expression')),
    ...expressions.filter((each) => compiler.compile(each, scope).kind === 'unsupported'),
  ];
}
