import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { isJsonList, listField, objectField, stringField } from '../json-fields.ts';
import { pathSegment } from '../metadata/index.ts';
import { type FieldError, invalidStruct, requiredField } from '../status/index.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withDefaults } from './pod-defaults.ts';
import { resourceNames } from './resource-names.ts';

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
  validate: (role) => ruleErrors(role, false),
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
      if (isOfUrls && !isNamespaced) return verbs;
      return [
        ...verbs,
        ...missing('apiGroups', 'resource rules must supply at least one api group'),
        ...missing('resources', 'resource rules must supply at least one resource'),
      ];
    });
}

export const roleBindingRules = bindingRules('RoleBinding', 'rolebindings', true);
export const clusterRoleBindingRules = bindingRules(
  'ClusterRoleBinding',
  'clusterrolebindings',
  false,
);

function bindingRules(kind: string, plural: string, namespaced: boolean): BuiltinRules {
  return {
    names: resourceNames({ apiVersion, kind, plural, namespaced }),
    nameRule: pathSegment,
    fillDefaults: withSubjects,
    validate(binding) {
      const role = objectField(binding, 'roleRef') ?? {};
      return stringField(role, 'name') ? [] : [requiredField('roleRef.name')];
    },
    validateUpdate(binding, before) {
      const role = binding.roleRef ?? null;
      if (deepEqual(role, before.roleRef)) return [];
      return [invalidStruct('roleRef', inOrder(role), 'cannot change roleRef')];
    },
  };
}

/** The fields of roleRef in Go's order. */
function inOrder(role: Json): Json {
  const { apiGroup = '', kind = '', name = '' } = isJsonObject(role) ? role : {};
  return { apiGroup, kind, name };
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
