import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { PolicyCompiler, PolicyScope } from '../cel/policy-cel.ts';
import { resultProblem, variableTypes } from '../cel/policy-variables.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import { dns1035Label, dnsSubdomain, pathSegment, qualifiedName } from '../metadata/name-rules.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooMany,
  unsupportedValue,
} from '../status/field-error.ts';
import { labelSelectorErrors } from './selector-rules.ts';
import { requestRule } from './webhook-checks.ts';

/** Validates the spec of a policy that validates. */
export function validatingPolicyErrors(
  policy: JsonObject,
  compiler: PolicyCompiler,
): readonly FieldError[] {
  const spec = objectField(policy, 'spec') ?? {};
  const check = new ExpressionChecks(compiler, spec);
  const [validations, auditAnnotations] = [
    itemsOf(spec, 'validations'),
    itemsOf(spec, 'auditAnnotations'),
  ];
  const nothing = 'validations or auditAnnotations must contain at least one item';
  return [
    ...commonErrors(spec, check),
    ...variableErrors(spec, compiler),
    ...(validations.length === 0 && auditAnnotations.length === 0
      ? [
          requiredField('spec.validations', nothing),
          requiredField('spec.auditAnnotations', nothing),
        ]
      : [
          ...validations.flatMap((each, index) =>
            validationErrors(each, `spec.validations[${index}]`, check),
          ),
          ...auditErrors(policy, auditAnnotations, check),
        ]),
  ];
}

/** Validates the spec of a policy that changes objects. */
export function mutatingPolicyErrors(
  policy: JsonObject,
  compiler: PolicyCompiler,
): readonly FieldError[] {
  const spec = objectField(policy, 'spec') ?? {};
  const check = new ExpressionChecks(compiler, spec);
  const mutations = itemsOf(spec, 'mutations');
  const reinvocation = stringField(spec, 'reinvocationPolicy') ?? '';
  const at = 'spec.reinvocationPolicy';
  return [
    ...commonErrors(spec, check, 'mutating'),
    ...variableErrors(spec, compiler),
    ...(mutations.length === 0
      ? [requiredField('spec.mutations', 'mutations must contain at least one item')]
      : mutations.flatMap((each, index) =>
          mutationErrors(each, `spec.mutations[${index}]`, check),
        )),
    ...(reinvocation === ''
      ? [requiredField(at)]
      : oneOfErrors(reinvocation, at, ['IfNeeded', 'Never'])),
  ];
}

/** Validates the spec of a binding. */
export function bindingErrors(
  binding: JsonObject,
  kind: 'validating' | 'mutating',
): readonly FieldError[] {
  const spec = objectField(binding, 'spec') ?? {};
  const name = stringField(spec, 'policyName') ?? '';
  const matched = objectField(spec, 'matchResources');
  return [
    ...(name === ''
      ? [requiredField('spec.policyName')]
      : dnsSubdomain(name).map((detail) => invalidField('spec.policyName', name, detail))),
    ...paramRefErrors(objectField(spec, 'paramRef')),
    ...(matched === undefined ? [] : matchErrors(matched, 'spec.matchResources')),
    ...(kind === 'mutating'
      ? operationErrors(matched ?? {}, 'spec.matchResources')
      : actionErrors(spec)),
  ];
}

function itemsOf(spec: JsonObject, name: string): readonly JsonObject[] {
  return listField(spec, name).filter(isJsonObject);
}

function oneOfErrors(value: string, at: string, choices: readonly string[]): readonly FieldError[] {
  return choices.includes(value) ? [] : [unsupportedValue(at, value, choices)];
}

function commonErrors(
  spec: JsonObject,
  check: ExpressionChecks,
  kind?: 'mutating',
): readonly FieldError[] {
  const paramKind = objectField(spec, 'paramKind');
  const constraints = objectField(spec, 'matchConstraints');
  const at = 'spec.matchConstraints';
  return [
    ...oneOfErrors(stringField(spec, 'failurePolicy') ?? '', 'spec.failurePolicy', [
      'Fail',
      'Ignore',
    ]),
    ...(paramKind === undefined ? [] : paramKindErrors(paramKind)),
    ...(constraints === undefined
      ? [requiredField(at)]
      : [
          ...matchErrors(constraints, at),
          ...(listField(constraints, 'resourceRules').length === 0
            ? [requiredField(`${at}.resourceRules`)]
            : []),
          ...(kind === 'mutating' ? operationErrors(constraints, at) : []),
        ]),
    ...conditionErrors(spec, check),
  ];
}

function paramKindErrors(paramKind: JsonObject): readonly FieldError[] {
  const at = 'spec.paramKind';
  const apiVersion = stringField(paramKind, 'apiVersion') ?? '';
  const kind = stringField(paramKind, 'kind') ?? '';
  return [
    ...(apiVersion === ''
      ? [requiredField(`${at}.apiVersion`)]
      : groupVersionErrors(apiVersion, `${at}.apiVersion`)),
    ...(kind === ''
      ? [requiredField(`${at}.kind`)]
      : listed(dns1035Label(kind.toLowerCase())).map((problem) =>
          invalidField(
            `${at}.kind`,
            kind,
            `may have mixed case, but should otherwise match: ${problem}`,
          ),
        )),
  ];
}

function groupVersionErrors(text: string, at: string): readonly FieldError[] {
  const parts = text.split('/');
  if (parts.length > 2) return [invalidField(at, text, `unexpected GroupVersion string: ${text}`)];
  const [group, version = ''] = parts.length === 1 ? ['', text] : parts;
  return [
    ...(group === undefined || group === ''
      ? []
      : listed(dnsSubdomain(group)).map((problem) => invalidField(at, group, problem))),
    ...(version === ''
      ? [invalidField(at, text, 'version must be specified')]
      : listed(dns1035Label(version)).map((problem) => invalidField(at, version, problem))),
  ];
}

/** Several problems are one error. */
function listed(problems: readonly string[]): readonly string[] {
  return problems.length === 0 ? [] : [problems.join(',')];
}

function matchErrors(match: JsonObject, at: string): readonly FieldError[] {
  const ruleErrors = (name: string) =>
    listField(match, name).flatMap((rule, index) =>
      namedRuleErrors(rule, `${at}.${name}[${index}]`),
    );
  return [
    ...oneOfErrors(stringField(match, 'matchPolicy') ?? '', `${at}.matchPolicy`, [
      'Equivalent',
      'Exact',
    ]),
    ...['namespaceSelector', 'objectSelector'].flatMap((name) =>
      labelSelectorErrors(objectField(match, name) ?? {}, `${at}.${name}`),
    ),
    ...ruleErrors('resourceRules'),
    ...ruleErrors('excludeResourceRules'),
  ];
}

function namedRuleErrors(rule: Json, at: string): readonly FieldError[] {
  if (!isJsonObject(rule)) return [];
  const names = listField(rule, 'resourceNames').map(String);
  return [
    ...names.flatMap((name, index) => [
      ...pathSegment(name).map((problem) =>
        invalidField(`${at}.resourceNames[${index}]`, name, problem),
      ),
      ...(names.indexOf(name) < index
        ? [duplicateField(`${at}.resourceNames[${index}]`, name)]
        : []),
    ]),
    ...requestRule({ value: rule, at, owner: rule }),
  ];
}

/** Deletions cannot be changed. */
function operationErrors(match: JsonObject, at: string): readonly FieldError[] {
  return listField(match, 'resourceRules')
    .filter(isJsonObject)
    .flatMap((rule) => listField(rule, 'operations').map(String))
    .filter((operation) => !changedOperations.includes(operation))
    .map((operation) =>
      unsupportedValue(`${at}.resourceRules.operations`, operation, changedOperations),
    );
}

const changedOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

const maxConditions = 64;

function conditionErrors(spec: JsonObject, check: ExpressionChecks): readonly FieldError[] {
  const at = 'spec.matchConditions';
  const conditions = listField(spec, 'matchConditions').filter(isJsonObject);
  const names = conditions.map((condition) => stringField(condition, 'name') ?? '');
  return [
    ...(conditions.length > maxConditions ? [tooMany(at, conditions.length, maxConditions)] : []),
    ...conditions.flatMap((condition, index) => {
      const place = `${at}[${index}]`;
      const [name = '', expression] = [names[index], stringField(condition, 'expression') ?? ''];
      return [
        ...(expression.trim() === ''
          ? [requiredField(`${place}.expression`)]
          : check.condition(expression.trim(), `${place}.expression`)),
        ...(name === ''
          ? [requiredField(`${place}.name`)]
          : qualifiedName(name).map((problem) => invalidField(`${place}.name`, name, problem))),
        ...(name !== '' && names.indexOf(name) < index
          ? [duplicateField(`${place}.name`, name)]
          : []),
      ];
    }),
  ];
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved =
  /^(?:true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)$/;

function variableErrors(spec: JsonObject, compiler: PolicyCompiler): readonly FieldError[] {
  const { problems } = variableTypes(spec, compiler);
  return listField(spec, 'variables')
    .filter(isJsonObject)
    .flatMap((variable, index) => {
      const at = `spec.variables[${index}]`;
      const name = stringField(variable, 'name') ?? '';
      const expression = stringField(variable, 'expression') ?? '';
      const problem = problems.get(index);
      return [
        ...(name.trim() === ''
          ? [requiredField(`${at}.name`, 'name is not specified')]
          : identifier.test(name) && !reserved.test(name)
            ? []
            : [invalidField(`${at}.name`, name, 'must be a valid CEL identifier')]),
        ...(expression.trim() === ''
          ? [requiredField(`${at}.expression`, 'expression is not specified')]
          : problem === undefined
            ? []
            : [invalidField(`${at}.expression`, expression, problem)]),
      ];
    });
}

function validationErrors(
  validation: JsonObject,
  at: string,
  check: ExpressionChecks,
): readonly FieldError[] {
  const text = (name: string) => stringField(validation, name) ?? '';
  const [message, computed] = [text('message'), text('messageExpression')];
  const reason = fieldOf(validation, 'reason');
  return [
    ...(text('expression').trim() === ''
      ? [requiredField(`${at}.expression`, 'expression is not specified')]
      : check.validation(text('expression'), `${at}.expression`)),
    ...(computed !== '' && computed.trim() === ''
      ? [invalidField(`${at}.messageExpression`, computed, 'must be non-empty if specified')]
      : computed === ''
        ? []
        : check.message(computed, `${at}.messageExpression`)),
    ...(message !== '' && message.trim() === ''
      ? [invalidField(`${at}.message`, message, 'must be non-empty if specified')]
      : /[\n\r]/.test(message.trim())
        ? [invalidField(`${at}.message`, message, 'must not contain line breaks')]
        : []),
    ...(typeof reason === 'string'
      ? oneOfErrors(reason, `${at}.reason`, ['Forbidden', 'Invalid', 'RequestEntityTooLarge'])
      : []),
  ];
}

const maxAnnotations = 20;
const maxAnnotationExpression = 5 * 1024;

function auditErrors(
  policy: JsonObject,
  annotations: readonly JsonObject[],
  check: ExpressionChecks,
): readonly FieldError[] {
  const path = 'spec.auditAnnotations';
  const name = stringField(objectField(policy, 'metadata') ?? {}, 'name') ?? '';
  const keys = annotations.map((annotation) => stringField(annotation, 'key') ?? '');
  const many = `must not have more than ${maxAnnotations} auditAnnotations`;
  return [
    ...(annotations.length > maxAnnotations ? [invalidField(path, annotations, many)] : []),
    ...annotations.flatMap((annotation, index) => {
      const at = `${path}[${index}]`;
      const [key = '', expression] = [
        keys[index],
        stringField(annotation, 'valueExpression') ?? '',
      ];
      const trimmed = expression.trim();
      return [
        ...qualifiedName(`${name}/${key}`).map((problem) =>
          invalidField(`${at}.key`, `${name}/${key}`, problem),
        ),
        ...(trimmed === ''
          ? [requiredField(`${at}.valueExpression`, 'valueExpression is not specified')]
          : trimmed.length > maxAnnotationExpression
            ? [
                requiredField(
                  `${at}.valueExpression`,
                  `must not exceed ${maxAnnotationExpression} bytes in length`,
                ),
              ]
            : check.annotation(trimmed, `${at}.valueExpression`, expression)),
        ...(keys.indexOf(key) < index ? [duplicateField(`${at}.key`, key)] : []),
      ];
    }),
  ];
}

function mutationErrors(
  mutation: JsonObject,
  at: string,
  check: ExpressionChecks,
): readonly FieldError[] {
  const type = stringField(mutation, 'patchType') ?? '';
  const patch = objectField(mutation, 'jsonPatch');
  const configuration = objectField(mutation, 'applyConfiguration');
  switch (type) {
    case '':
      return [requiredField(`${at}.patchType`)];
    case 'JSONPatch':
      return [
        ...(patch === undefined
          ? [requiredField(`${at}.jsonPatch`, 'must be specified when patchType is JSONPatch')]
          : patchErrors(patch, `${at}.jsonPatch`, (text, place) => check.jsonPatch(text, place))),
        ...(configuration === undefined
          ? []
          : [
              invalidField(
                `${at}.applyConfiguration`,
                '{applyConfiguration}',
                'must not be specified when patchType is JSONPatch',
              ),
            ]),
      ];
    case 'ApplyConfiguration':
      return [
        ...(configuration === undefined
          ? [
              requiredField(
                `${at}.applyConfiguration`,
                'must be specified when patchType is ApplyConfiguration',
              ),
            ]
          : patchErrors(configuration, `${at}.applyConfiguration`, (text, place) =>
              check.applyConfiguration(text, place),
            )),
        ...(patch === undefined
          ? []
          : [
              invalidField(
                `${at}.jsonPatch`,
                '{jsonPatch}',
                'must not be specified when patchType is ApplyConfiguration',
              ),
            ]),
      ];
    default:
      return oneOfErrors(type, `${at}.patchType`, ['ApplyConfiguration', 'JSONPatch']);
  }
}

function patchErrors(
  patch: JsonObject,
  at: string,
  check: (text: string, place: string) => readonly FieldError[],
): readonly FieldError[] {
  const expression = (stringField(patch, 'expression') ?? '').trim();
  if (expression === '') return [requiredField(`${at}.expression`)];
  return check(expression, `${at}.expression`);
}

function paramRefErrors(ref: JsonObject | undefined): readonly FieldError[] {
  if (ref === undefined) return [];
  const at = 'spec.paramRef';
  const name = stringField(ref, 'name') ?? '';
  const selector = objectField(ref, 'selector');
  const action = stringField(ref, 'parameterNotFoundAction') ?? '';
  const exclusive = 'name and selector are mutually exclusive';
  const hasBoth = name !== '' && selector !== undefined;
  return [
    ...pathSegment(name).map((problem) => invalidField(`${at}.name`, name, problem)),
    ...(hasBoth ? [forbiddenField(`${at}.name`, exclusive)] : []),
    ...(selector === undefined ? [] : labelSelectorErrors(selector, `${at}.selector`)),
    ...(hasBoth ? [forbiddenField(`${at}.selector`, exclusive)] : []),
    ...(name === '' && selector === undefined
      ? [requiredField(at, 'one of name or selector must be specified')]
      : []),
    ...(action === ''
      ? [requiredField(`${at}.parameterNotFoundAction`)]
      : oneOfErrors(action, `${at}.parameterNotFoundAction`, ['Deny', 'Allow'])),
  ];
}

const bothActions =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';

function actionErrors(spec: JsonObject): readonly FieldError[] {
  const at = 'spec.validationActions';
  const actions = listField(spec, 'validationActions').map(String);
  return [
    ...actions.flatMap((action, index) => [
      ...oneOfErrors(action, `${at}[${index}]`, ['Audit', 'Deny', 'Warn']),
      ...(actions.indexOf(action) < index ? [duplicateField(`${at}[${index}]`, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn')
      ? [invalidField(at, actions, bothActions)]
      : []),
    ...(actions.length === 0
      ? [requiredField(at, 'at least one validation action is required')]
      : []),
  ];
}

/** Compiles the expressions of one policy, each with what it may use and must return. */
class ExpressionChecks {
  readonly #compiler: PolicyCompiler;
  readonly #spec: JsonObject;
  readonly #hasParams: boolean;
  #variables: PolicyScope['variables'];
  readonly #hasVariables: boolean;

  constructor(compiler: PolicyCompiler, spec: JsonObject) {
    this.#compiler = compiler;
    this.#spec = spec;
    this.#hasParams = objectField(spec, 'paramKind') !== undefined;
    // A policy that changes objects has the variable `variables`, even if it is empty.
    this.#hasVariables = listField(spec, 'variables').length > 0 || spec.mutations !== undefined;
  }

  /** A condition of the request does not know the variables. */
  condition(text: string, at: string) {
    return this.#check(text, { at, types: ['bool'], scope: { variables: undefined } });
  }

  validation(text: string, at: string) {
    return this.#check(text, { at, types: ['bool'] });
  }

  message(text: string, at: string) {
    return this.#check(text, { at, types: ['string'], scope: { hasAuthorizer: false } });
  }

  annotation(text: string, at: string, shown: string) {
    return this.#check(text, { at, types: ['string', 'null_type'], shown });
  }

  jsonPatch(text: string, at: string) {
    const scope = { hasPatchTypes: true };
    return this.#check(text, { at, types: ['list(JSONPatch)'], scope });
  }

  applyConfiguration(text: string, at: string) {
    const scope = { hasPatchTypes: true };
    return this.#check(text, { at, types: ['Object'], scope });
  }

  #check(
    text: string,
    options: {
      readonly at: string;
      readonly types: readonly string[];
      readonly scope?: Partial<PolicyScope>;
      readonly shown?: string;
    },
  ): readonly FieldError[] {
    if (this.#hasVariables) this.#variables ??= variableTypes(this.#spec, this.#compiler).types;
    const compiled = this.#compiler.compile(text, {
      variables: this.#variables,
      hasParams: this.#hasParams,
      hasAuthorizer: true,
      hasPatchTypes: false,
      ...options.scope,
    });
    const problem = resultProblem(compiled, options.types);
    return problem === undefined ? [] : [invalidField(options.at, options.shown ?? text, problem)];
  }
}
