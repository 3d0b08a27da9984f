import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { fieldOf, isJsonList, listField, objectField, stringField } from '../json-fields.ts';
import { dns1035Label, dnsSubdomain } from '../metadata/index.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';
import { validateStructure } from './validate-structure.ts';

/** What is wrong with a CRD. A subset of the server's rules: those that authors meet. */
export function validateCrd(crd: JsonObject): readonly FieldError[] {
  const spec = objectField(crd, 'spec') ?? {};
  const names = objectField(spec, 'names') ?? {};
  const group = stringField(spec, 'group') ?? '';
  const plural = stringField(names, 'plural') ?? '';
  const name = stringField(objectField(crd, 'metadata') ?? {}, 'name') ?? '';
  const errors: FieldError[] = [];
  if (name !== `${plural}.${group}`)
    errors.push(invalidField('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  return [
    ...errors,
    ...groupErrors(group),
    ...scopeErrors(stringField(spec, 'scope') ?? ''),
    ...namesErrors(names),
    ...conversionErrors(spec),
    ...versionErrors(spec),
    ...storedErrors(crd),
  ];
}

/** What may not change in a CRD. */
export function validateCrdUpdate(crd: JsonObject, before: JsonObject): readonly FieldError[] {
  const [spec, old] = [objectField(crd, 'spec') ?? {}, objectField(before, 'spec') ?? {}];
  const [names, oldNames] = [objectField(spec, 'names') ?? {}, objectField(old, 'names') ?? {}];
  const errors: FieldError[] = [];
  const immutable = 'field is immutable';
  if (spec.group !== old.group) errors.push(invalidField('spec.group', spec.group, immutable));
  if (spec.scope !== old.scope) errors.push(invalidField('spec.scope', spec.scope, immutable));
  for (const name of ['kind', 'plural'])
    if (names[name] !== oldNames[name])
      errors.push(invalidField(`spec.names.${name}`, names[name], immutable));
  const offered = listField(spec, 'versions').map((version) =>
    isJsonObject(version) ? stringField(version, 'name') : undefined,
  );
  const stored = listField(objectField(crd, 'status') ?? {}, 'storedVersions');
  for (const [index, version] of stored.entries()) {
    if (offered.includes(String(version))) continue;
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.push(invalidField(`status.storedVersions[${index}]`, version, detail));
  }
  return errors;
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === '') return [requiredField('spec.group')];
  const errors = dnsSubdomain(group).map((message) => invalidField('spec.group', group, message));
  if (group.includes('.')) return errors;
  return [...errors, invalidField('spec.group', group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): readonly FieldError[] {
  if (scope === '') return [requiredField('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [unsupportedValue('spec.scope', scope, scopes)];
}

function namesErrors(names: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const value = stringField(names, name) ?? '';
    const field = `spec.names.${name}`;
    if (value === '') {
      if (name === 'plural' || name === 'kind') errors.push(requiredField(field));
      continue;
    }
    const isKind = name === 'kind' || name === 'listKind';
    const messages = dns1035Label(isKind ? value.toLowerCase() : value);
    if (messages.length > 0)
      errors.push(
        invalidField(
          field,
          value,
          isKind
            ? `may have mixed case, but should otherwise match: ${messages.join(',')}`
            : messages.join(','),
        ),
      );
  }
  if (names.kind !== undefined && names.kind === names.listKind)
    errors.push(
      invalidField('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'),
    );
  return errors;
}

function conversionErrors(spec: JsonObject): readonly FieldError[] {
  const conversion = objectField(spec, 'conversion') ?? {};
  const strategy = stringField(conversion, 'strategy') ?? '';
  if (strategy === 'None') {
    if (conversion.webhook === undefined) return [];
    const detail = 'should not be set when strategy is not set to Webhook';
    return [forbiddenField('spec.conversion.webhookClientConfig', detail)];
  }
  if (strategy !== 'Webhook')
    return [unsupportedValue('spec.conversion.strategy', strategy, ['None', 'Webhook'])];
  const detail = 'the sandbox does not model conversion webhooks';
  return [forbiddenField('spec.conversion.strategy', detail)];
}

function versionErrors(spec: JsonObject): readonly FieldError[] {
  const versions = fieldOf(spec, 'versions');
  if (!isJsonList(versions) || versions.length === 0) {
    const detail = 'must have exactly one version marked as storage version';
    return [invalidField('spec.versions', [], detail)];
  }
  const errors: FieldError[] = [];
  const listed = versions.filter(isJsonObject);
  const storage = listed.filter((version) => version.storage === true);
  if (storage.length !== 1)
    errors.push(
      invalidField(
        'spec.versions',
        versions,
        'must have exactly one version marked as storage version',
      ),
    );
  const names = listed.map((version) => stringField(version, 'name') ?? '');
  if (new Set(names).size !== names.length)
    errors.push(invalidField('spec.versions', versions, 'must contain unique version names'));
  const isShared = haveOneSchema(listed);
  for (const [index, version] of listed.entries())
    errors.push(...oneVersionErrors(version, `spec.versions[${index}]`, isShared));
  return errors;
}

/** Inside the server a schema that all versions share belongs to the CRD, not to the versions. */
function haveOneSchema(versions: readonly JsonObject[]): boolean {
  const [first, ...others] = versions.map((version) => version.schema);
  return others.every((schema) => deepEqual(schema, first));
}

/** The stored version is among those that were ever stored. */
function storedErrors(crd: JsonObject): readonly FieldError[] {
  const field = 'status.storedVersions';
  const stored = fieldOf(objectField(crd, 'status') ?? {}, 'storedVersions') ?? null;
  if (!isJsonList(stored) || stored.length === 0)
    return [invalidField(field, stored, 'must have at least one stored version')];
  const storage = listField(objectField(crd, 'spec') ?? {}, 'versions').findLast(
    (version) => isJsonObject(version) && version.storage === true,
  );
  const name = isJsonObject(storage) ? stringField(storage, 'name') : undefined;
  if (name === undefined || stored.includes(name)) return [];
  return [invalidField(field, stored, `must have the storage version ${name}`)];
}

function oneVersionErrors(
  version: JsonObject,
  path: string,
  isShared: boolean,
): readonly FieldError[] {
  const name = stringField(version, 'name') ?? '';
  const errors = dns1035Label(name).map((message) => invalidField(`${path}.name`, name, message));
  const schema = objectField(objectField(version, 'schema') ?? {}, 'openAPIV3Schema');
  const schemaPath = `${path}.schema.openAPIV3Schema`;
  if (schema === undefined) return [...errors, requiredField(schemaPath)];
  const shown = isShared ? 'spec.validation.openAPIV3Schema' : schemaPath;
  return [...errors, ...validateStructure(schema, shown)];
}
