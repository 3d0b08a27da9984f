import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { isJsonList, listField, objectField, stringField } from '../json-fields.ts';
import { dnsSubdomain, pathSegment } from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  invalidStruct,
  requiredField,
} from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { type Check, errorsOf, fields, named, oneOf, required } from './field-checks.ts';
import { withDefaults } from './pod-defaults.ts';
import { labelSelector } from './selector-rules.ts';
import { resourceNames } from './served-kind.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

export const roleRules: BuiltinRules = {
  names: resourceNames({ apiVersion, kind: 'Role', plural: 'roles', namespaced: true }),
  nameRule: pathSegment,
  writtenZeros: withRules,
  validate: (role) => ruleErrors(role, true),
};

export const clusterRoleRules: BuiltinRules = {
  names: resourceNames({
    apiVersion,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    namespaced: false,
  }),
  nameRule: pathSegment,
  writtenZeros: withRules,
  validate: (role) => [...ruleErrors(role, false), ...errorsOf(aggregation, role)],
};

/** Roles always have a `rules` field. */
function withRules(role: JsonObject): JsonObject {
  return withDefaults(role, { rules: null });
}

function ruleErrors(role: JsonObject, isNamespaced: boolean): readonly FieldError[] {
  return listField(role, 'rules')
    .filter(isJsonObject)
    .flatMap((rule, index) => {
      const at = `rules[${index}]`;
      const isOfUrls = listField(rule, 'nonResourceURLs').length > 0;
      const missing = (name: string, detail: string) =>
        listField(rule, name).length === 0 ? [requiredField(`${at}.${name}`, detail)] : [];
      const verbs = missing('verbs', 'verbs must contain at least one value');
      if (isOfUrls) return [...verbs, ...urlErrors(rule, isNamespaced, `${at}.nonResourceURLs`)];
      return [
        ...verbs,
        ...missing('apiGroups', 'resource rules must supply at least one api group'),
        ...missing('resources', 'resource rules must supply at least one resource'),
      ];
    });
}

function urlErrors(rule: JsonObject, isNamespaced: boolean, at: string): readonly FieldError[] {
  const urls = rule.nonResourceURLs;
  const both = 'rules cannot apply to both regular resources and non-resource URLs';
  const isBoth = ['apiGroups', 'resources', 'resourceNames'].some(
    (name) => listField(rule, name).length > 0,
  );
  return [
    ...(isNamespaced
      ? [invalidField(at, urls, 'namespaced rules cannot apply to non-resource URLs')]
      : []),
    ...(isBoth ? [invalidField(at, urls, both)] : []),
  ];
}

const aggregation = fields({
  'aggregationRule.clusterRoleSelectors': required(
    'at least one clusterRoleSelector required if aggregationRule is non-nil',
  ),
  'aggregationRule.clusterRoleSelectors[]': (found) => {
    const errors = labelSelector(found);
    // The server prints its own struct.
    return errors.length === 0
      ? []
      : [...errors, invalidField(found.at, null, 'invalid label selector.')];
  },
});

/** Validates a subject of a binding by its kind. */
function subjectCheck(isNamespaced: boolean): Check {
  return ({ value, at }) => {
    const subject = isJsonObject(value) ? value : {};
    const [kind, name, apiGroup, namespace] = ['kind', 'name', 'apiGroup', 'namespace'].map(
      (field) => stringField(subject, field) ?? '',
    );
    const check = (field: string, each: Check) =>
      each({ value: subject[field], at: `${at}.${field}`, owner: subject });
    if (kind !== 'ServiceAccount')
      return [
        ...check('name', required()),
        ...(kind === 'User' || kind === 'Group'
          ? check('apiGroup', oneOf(group))
          : check('kind', oneOf('ServiceAccount', 'User', 'Group'))),
      ];
    return [
      ...check('name', required()),
      ...(name === '' ? [] : check('name', named(dnsSubdomain))),
      ...(apiGroup === '' ? [] : check('apiGroup', oneOf(''))),
      ...(isNamespaced || namespace !== '' ? [] : check('namespace', required())),
    ];
  };
}

export const roleBindingRules = bindingRules('RoleBinding', 'rolebindings', true);
export const clusterRoleBindingRules = bindingRules(
  'ClusterRoleBinding',
  'clusterrolebindings',
  false,
);

function bindingRules(kind: string, plural: string, namespaced: boolean): BuiltinRules {
  const checks = fields({
    'roleRef!.apiGroup': oneOf(group),
    'roleRef!.kind': oneOf(...(namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'])),
    'roleRef!.name': [required(), named(pathSegment)],
    'subjects[]': subjectCheck(namespaced),
  });
  return {
    names: resourceNames({ apiVersion, kind, plural, namespaced }),
    nameRule: pathSegment,
    fillDefaults: withSubjects,
    validate: (binding) => errorsOf(checks, binding),
    validateUpdate(binding, before) {
      const role = binding.roleRef ?? null;
      if (deepEqual(role, before.roleRef)) return [];
      return [invalidStruct('roleRef', structOf(role), 'cannot change roleRef')];
    },
  };
}

/** A roleRef as the server prints it. */
function structOf(role: Json): Json {
  const { apiGroup = '', kind = '', name = '' } = isJsonObject(role) ? role : {};
  return { APIGroup: apiGroup, Kind: kind, Name: name };
}

function withSubjects(binding: JsonObject): JsonObject {
  const { subjects } = binding;
  const roleRef = objectField(binding, 'roleRef') ?? {};
  const filled = {
    ...binding,
    roleRef: stringField(roleRef, 'apiGroup') ? roleRef : { ...roleRef, apiGroup: group },
  };
  if (!isJsonList(subjects)) return filled;
  return {
    ...filled,
    subjects: subjects.map((subject) =>
      isJsonObject(subject) && (subject.kind === 'User' || subject.kind === 'Group')
        ? withDefaults(subject, { apiGroup: group })
        : subject,
    ),
  };
}
