import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { fieldOf, isJsonList, listField, objectField, stringField } from '../json-fields.ts';
import { dns1035Label } from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  invalidStruct,
  requiredField,
} from '../status/field-error.ts';
import { approvalErrors, nameErrors } from './name-rules.ts';
import { type SchemaRules, validateSchema } from './schema-rules/validate-schema.ts';
import {
  columnErrors,
  conversionErrors,
  deprecationErrors,
  rootErrors,
  selectableErrors,
  subresourceErrors,
} from './version-rules.ts';

/** All errors of a CRD. */
export function validateCrd(crd: JsonObject, rules: SchemaRules): readonly FieldError[] {
  const spec = objectField(crd, 'spec') ?? {};
  const errors: FieldError[] = [];
  if (fieldOf(spec, 'preserveUnknownFields') === true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalidField('spec.preserveUnknownFields', true, detail));
  }
  return [
    ...errors,
    ...nameErrors(spec),
    ...conversionErrors(spec),
    ...versionErrors(spec, rules),
    ...storedErrors(crd),
  ];
}

/** Errors that reject a new CRD but not the update of an existing one. */
export function validateNewCrd(crd: JsonObject): readonly FieldError[] {
  const spec = objectField(crd, 'spec') ?? {};
  const group = stringField(spec, 'group') ?? '';
  const plural = stringField(objectField(spec, 'names') ?? {}, 'plural') ?? '';
  const name = stringField(objectField(crd, 'metadata') ?? {}, 'name') ?? '';
  const detail = 'must be spec.names.plural+"."+spec.group';
  return [
    ...(name === `${plural}.${group}` ? [] : [invalidField('metadata.name', name, detail)]),
    ...approvalErrors(crd),
  ];
}

/** Changes of immutable fields of a CRD. */
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
  return [...errors, ...approvalErrors(crd, before)];
}

/** The server prints its own struct. It stores the parts of a single version outside. */
function inGo({ name = '', served = false, storage = false, ...rest }: JsonObject): JsonObject {
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: rest.deprecated ?? false,
    DeprecationWarning: rest.deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function versionErrors(spec: JsonObject, rules: SchemaRules): readonly FieldError[] {
  const versions = fieldOf(spec, 'versions');
  if (!isJsonList(versions) || versions.length === 0) {
    const detail = 'must have exactly one version marked as storage version';
    return [invalidField('spec.versions', versions ?? null, detail)];
  }
  const errors: FieldError[] = [];
  const listed = versions.filter(isJsonObject);
  const storage = listed.filter((version) => version.storage === true);
  if (storage.length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(
      invalidStruct('spec.versions', listed.length === 1 ? listed.map(inGo) : versions, detail),
    );
  }
  const names = listed.map((version) => stringField(version, 'name') ?? '');
  if (new Set(names).size !== names.length)
    errors.push(invalidField('spec.versions', versions, 'must contain unique version names'));
  for (const [index, version] of listed.entries())
    errors.push(...plainErrors(version, `spec.versions[${index}]`));
  // The server also reports the first version under the path from when a CRD had only one version.
  const [first = ''] = names;
  const problem = dns1035Label(first).join(',');
  if (first !== '' && problem !== '') errors.push(invalidField('spec.version', first, problem));
  return [...errors, ...partErrors(listed, rules)];
}

function plainErrors(version: JsonObject, path: string): readonly FieldError[] {
  const name = stringField(version, 'name') ?? '';
  const problem = dns1035Label(name).join(',');
  return [
    ...(problem === '' ? [] : [invalidField(`${path}.name`, name, problem)]),
    ...deprecationErrors(version, path),
    ...(schemaOf(version) === undefined ? [requiredField(`${path}.schema.openAPIV3Schema`)] : []),
  ];
}

/** In the server's internal form, what all versions share belongs to the CRD and is reported once, under its own path. */
function partErrors(versions: readonly JsonObject[], rules: SchemaRules): readonly FieldError[] {
  const each = (
    keyword: string,
    check: (version: JsonObject, path: string) => readonly FieldError[],
  ) => {
    const [first] = versions;
    const isShared = versions.every((version) => deepEqual(version[keyword], first?.[keyword]));
    if (first !== undefined && isShared) return check(first, 'spec');
    return versions.flatMap((version, index) => check(version, `spec.versions[${index}]`));
  };
  const isSharedSchema = versions.every(({ schema }) => deepEqual(schema, versions[0]?.schema));
  const isAnyStatus = versions.some(hasStatus);
  return [
    ...each('schema', (version, path) => {
      const schema = schemaOf(version);
      if (schema === undefined) return [];
      const at = `${path}.${path === 'spec' ? 'validation' : 'schema'}.openAPIV3Schema`;
      const isPerVersion = path === 'spec' ? isAnyStatus : hasStatus(version);
      const root = isPerVersion ? rootErrors(schema, at) : [];
      return [...root, ...validateSchema(schema, at, rules)];
    }),
    ...each('subresources', (version, path) =>
      subresourceErrors(objectField(version, 'subresources') ?? {}, `${path}.subresources`),
    ),
    ...each('additionalPrinterColumns', (version, path) => {
      const keyword = 'additionalPrinterColumns';
      return columnErrors(listField(version, keyword), `${path}.${keyword}`);
    }),
    ...each('selectableFields', (version, path) => {
      const fields = listField(version, 'selectableFields');
      const at = `${path}.selectableFields`;
      // The server looks for the schema at the same level as for the fields.
      if (fields.length === 0 || (path === 'spec') === isSharedSchema)
        return selectableErrors(fields, schemaOf(version), at);
      const detail =
        path === 'spec'
          ? 'may only be set when validations.schema is included'
          : 'may only be set when `version.schema.openAPIV3Schema` is not included';
      return [invalidField(at, '', detail)];
    }),
  ];
}

function hasStatus(version: JsonObject): boolean {
  return fieldOf(objectField(version, 'subresources') ?? {}, 'status') !== undefined;
}

function schemaOf(version: JsonObject): JsonObject | undefined {
  return objectField(objectField(version, 'schema') ?? {}, 'openAPIV3Schema');
}

/** The storage version must be among the stored versions. */
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
