import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { CustomVersion } from '../kinds/custom-kind.ts';
import type { CustomColumn, ScalePaths } from '../kinds/served-kind.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { versionsOf } from './crd-rules.ts';

/** A version of a CRD, and whether it is served. */
type ListedVersion = CustomVersion & { readonly served: boolean };

/** The versions of a CRD. */
export function readVersions(crd: JsonObject): readonly ListedVersion[] {
  return versionsOf(crd).map((version) => ({
    ...readVersion(crd, version),
    served: version.served === true,
  }));
}

/** The name of the storage version. */
export function storageVersion(crd: JsonObject): string {
  const storage = versionsOf(crd).find((version) => version.storage === true);
  return stringField(storage ?? {}, 'name') ?? '';
}

function readVersion(crd: JsonObject, version: JsonObject): CustomVersion {
  const spec = objectField(crd, 'spec') ?? {};
  const names = objectField(spec, 'names') ?? {};
  const text = (name: string) => stringField(names, name) ?? '';
  const subresources = objectField(version, 'subresources') ?? {};
  const schema = objectField(objectField(version, 'schema') ?? {}, 'openAPIV3Schema') ?? {};
  return {
    names: {
      group: stringField(spec, 'group') ?? '',
      version: stringField(version, 'name') ?? '',
      kind: text('kind'),
      listKind: text('listKind'),
      plural: text('plural'),
      singular: text('singular'),
      shortNames: stringsOf(names, 'shortNames'),
      categories: stringsOf(names, 'categories'),
      namespaced: spec.scope === 'Namespaced',
    },
    // A CRD is validated before it is stored, so its schema has this type.
    schema: schema as unknown as StructuralSchema,
    hasStatus: subresources.status !== undefined,
    scale: readScale(objectField(subresources, 'scale')),
    selectableFields: listField(version, 'selectableFields')
      .filter(isJsonObject)
      .map((field) => (stringField(field, 'jsonPath') ?? '').replace(/^\./, '')),
    deprecation: readDeprecation(crd, version),
    columns: listField(version, 'additionalPrinterColumns').filter(isJsonObject).map(readColumn),
  };
}

/** The deprecation warning of a version: the author's text, or the server's default. */
function readDeprecation(crd: JsonObject, version: JsonObject): string | undefined {
  if (version.deprecated !== true) return undefined;
  const spec = objectField(crd, 'spec') ?? {};
  const kind = stringField(objectField(spec, 'names') ?? {}, 'kind') ?? '';
  const authorText = stringField(version, 'deprecationWarning');
  return (
    authorText ??
    `${stringField(spec, 'group')}/${stringField(version, 'name')} ${kind} is deprecated`
  );
}

function readColumn(column: JsonObject): CustomColumn {
  const text = (name: string) => stringField(column, name) ?? '';
  return {
    name: text('name'),
    type: text('type'),
    format: text('format'),
    description: text('description'),
    priority: typeof column.priority === 'number' ? column.priority : 0,
    jsonPath: text('jsonPath'),
  };
}

function readScale(scale: JsonObject | undefined): ScalePaths | undefined {
  if (scale === undefined) return undefined;
  const path = (name: string) => stepsOf(stringField(scale, name) ?? '');
  const labelSelector = stringField(scale, 'labelSelectorPath');
  return {
    specReplicas: path('specReplicasPath'),
    statusReplicas: path('statusReplicasPath'),
    labelSelector: labelSelector === undefined ? undefined : stepsOf(labelSelector),
  };
}

function stepsOf(path: string): readonly string[] {
  return path.split('.').filter((step) => step !== '');
}
