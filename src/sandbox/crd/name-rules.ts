import type { JsonObject } from '#util/json.ts';
import { fieldOf, objectField, stringField } from '../json-fields.ts';
import { dns1035Label, dnsSubdomain } from '../metadata/name-rules.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';

/** Validates the group, the scope and the names of a kind. */
export function nameErrors(spec: JsonObject): readonly FieldError[] {
  return [
    ...groupErrors(stringField(spec, 'group') ?? ''),
    ...scopeErrors(stringField(spec, 'scope') ?? ''),
    ...kindErrors(objectField(spec, 'names') ?? {}),
  ];
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === '') return [requiredField('spec.group')];
  const errors = dnsSubdomain(group).map((message) => invalidField('spec.group', group, message));
  if (errors.length > 0 || group.includes('.')) return errors;
  return [invalidField('spec.group', group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): readonly FieldError[] {
  if (scope === '') return [requiredField('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [unsupportedValue('spec.scope', scope, scopes)];
}

function kindErrors(names: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const value = stringField(names, name) ?? '';
    const field = `spec.names.${name}`;
    if (value === '') {
      errors.push(requiredField(field));
      continue;
    }
    const isKind = name === 'kind' || name === 'listKind';
    const problem = dns1035Label(isKind ? value.toLowerCase() : value).join(',');
    if (problem === '') continue;
    const mixed = `may have mixed case, but should otherwise match: ${problem}`;
    errors.push(invalidField(field, value, isKind ? mixed : problem));
  }
  const kind = stringField(names, 'kind') ?? '';
  if (kind !== '' && kind === stringField(names, 'listKind'))
    errors.push(invalidField('spec.names.listKind', kind, 'kind and listKind may not be the same'));
  return [...errors, ...labelErrors(names, 'shortNames'), ...labelErrors(names, 'categories')];
}

function labelErrors(names: JsonObject, list: string): readonly FieldError[] {
  return stringsOf(names, list).flatMap((text, index) => {
    const problem = dns1035Label(text).join(',');
    return problem === '' ? [] : [invalidField(`spec.names.${list}[${index}]`, text, problem)];
  });
}

const approval = 'api-approved.kubernetes.io';
const approvalField = `metadata.annotations[${approval}]`;
const rule = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Groups of the Kubernetes community are protected: a CRD in one needs an approval annotation. */
export function approvalErrors(crd: JsonObject, before?: JsonObject): readonly FieldError[] {
  const group = stringField(objectField(crd, 'spec') ?? {}, 'group') ?? '';
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(group)) return [];
  const value = approvalOf(crd);
  const state = approvalState(value);
  if (before !== undefined && approvalState(approvalOf(before)) === state) return [];
  if (state === 'missing') {
    const detail = `protected groups must have approval annotation "${approval}", ${rule}`;
    return [requiredField(approvalField, detail)];
  }
  if (state === 'approved' || state === 'bypassed') return [];
  const detail = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", ${rule}`;
  return [invalidField(approvalField, value, detail)];
}

function approvalOf(crd: JsonObject): string {
  const annotations = objectField(objectField(crd, 'metadata') ?? {}, 'annotations') ?? {};
  const value = fieldOf(annotations, approval);
  return typeof value === 'string' ? value : '';
}

function approvalState(text: string): 'missing' | 'bypassed' | 'approved' | 'invalid' {
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) ? 'approved' : 'invalid';
}
