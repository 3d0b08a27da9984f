import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { PolicyCompiler } from '../cel/policy-cel.ts';

import { listField, objectField } from '../json-fields.ts';
import {
  bindingErrors,
  mutatingPolicyErrors,
  validatingPolicyErrors,
} from './admission-policy-checks.ts';
import { policyWarnings } from './admission-policy-warnings.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withDefaults } from './pod-defaults.ts';
import { type ResourceNames, resourceNames } from './served-kind.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

function namesOf(kind: string, plural: string): ResourceNames {
  return resourceNames({ apiVersion, kind, plural, namespaced: false });
}

const names = {
  validating: namesOf('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  validatingBinding: namesOf(
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
  ),
  mutating: namesOf('MutatingAdmissionPolicy', 'mutatingadmissionpolicies'),
  mutatingBinding: namesOf('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings'),
};

/** The names of the kinds of admission policies. */
export const admissionPolicyNames: readonly ResourceNames[] = Object.values(names);

/** The rules of admission policies and their bindings. */
export function admissionPolicyRules(compiler: PolicyCompiler): readonly BuiltinRules[] {
  const common = { hasGeneration: true, allowsUnconditionalUpdate: false } as const;
  return [
    {
      ...common,
      names: names.validating,
      hasStatus: true,
      fillDefaults: withPolicyDefaults,
      warnings: (policy, before) => newWarnings(policy, before, compiler),
      validate: (policy) => validatingPolicyErrors(policy, compiler),
    },
    {
      ...common,
      names: names.validatingBinding,
      fillDefaults: withBindingDefaults,
      validate: (binding) => bindingErrors(binding, 'validating'),
    },
    {
      ...common,
      names: names.mutating,
      fillDefaults: withPolicyDefaults,
      warnings: (policy, before) => newWarnings(policy, before, compiler),
      validate: (policy) => mutatingPolicyErrors(policy, compiler),
    },
    {
      ...common,
      names: names.mutatingBinding,
      fillDefaults: withBindingDefaults,
      validate: (binding) => bindingErrors(binding, 'mutating'),
    },
  ];
}

function withPolicyDefaults(policy: JsonObject): JsonObject {
  const spec = objectField(policy, 'spec');
  if (spec === undefined) return policy;
  return {
    ...policy,
    spec: withMatchDefaults(withDefaults(spec, { failurePolicy: 'Fail' }), 'matchConstraints'),
  };
}

function withBindingDefaults(binding: JsonObject): JsonObject {
  const spec = objectField(binding, 'spec');
  return spec === undefined
    ? binding
    : { ...binding, spec: withMatchDefaults(spec, 'matchResources') };
}

function withMatchDefaults(spec: JsonObject, field: string): JsonObject {
  const match = objectField(spec, field);
  if (match === undefined) return spec;
  return {
    ...spec,
    [field]: {
      ...withDefaults(match, {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
      }),
      ...withScopes(match, 'resourceRules'),
      ...withScopes(match, 'excludeResourceRules'),
    },
  };
}

function withScopes(match: JsonObject, field: string): JsonObject {
  const rules = listField(match, field);
  if (rules.length === 0) return {};
  return { [field]: rules.map((rule): Json => (isJsonObject(rule) ? scoped(rule) : rule)) };
}

function scoped(rule: JsonObject): JsonObject {
  return withDefaults(rule, { scope: '*' });
}

/** What the sandbox does not do with a policy; for an update, only what is new. */
function newWarnings(
  policy: JsonObject,
  before: JsonObject | undefined,
  compiler: PolicyCompiler,
): readonly string[] {
  const earlier = before === undefined ? [] : policyWarnings(before, compiler);
  return policyWarnings(policy, compiler).filter((warning) => !earlier.includes(warning));
}
