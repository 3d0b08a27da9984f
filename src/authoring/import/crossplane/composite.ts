import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { quoted } from '../cel/jsonata.ts';
import { textType } from '../cel/value-type.ts';
import type { ImportReport } from '../import-report.ts';
import { convertPrinterColumns } from '../printer-columns.ts';
import { jsonataPath, type PathStep, schemaFieldAt } from './field-path.ts';
import { pathValue, typeOfSchema, type Value } from './value.ts';

/** The kind that a CompositeResourceDefinition defines, as users create it. */
export interface Composite {
  readonly kind: Gvk;
  readonly names: JsonObject;
  readonly isNamespaced: boolean;
  /** Users create claims; the composite resources of Crossplane are cluster-scoped. */
  readonly isClaim: boolean;
  /** OpenAPI schema of the storage version. */
  readonly schema: JsonObject;
  /** Fields that Crossplane adds to every `spec`, as far as patches read them. */
  readonly machinery: Map<string, JsonObject>;
}

/** Undefined: the document does not define a kind. */
export function readComposite({ apiVersion, spec }: JsonObject): Composite | undefined {
  if (!isJsonObject(spec) || !isJsonObject(spec.names)) return undefined;
  const version = storageVersion(spec);
  if (version === undefined || typeof spec.group !== 'string') return undefined;
  const claim = isJsonObject(spec.claimNames) ? spec.claimNames : undefined;
  const legacy = String(apiVersion).endsWith('/v2') ? 'Namespaced' : 'LegacyCluster';
  const isClaim = claim !== undefined;
  const names = claim ?? spec.names;
  return {
    kind: { group: spec.group, version: String(version.name), kind: String(names.kind) },
    names,
    isClaim,
    isNamespaced: isClaim || (spec.scope ?? legacy) === 'Namespaced',
    schema: openApiOf(version),
    machinery: new Map(),
  };
}

function versionsOf({ versions }: JsonObject): readonly JsonObject[] {
  return Array.isArray(versions) ? versions.filter(isJsonObject) : [];
}

/** The version that Compositions refer to. */
function storageVersion(spec: JsonObject): JsonObject | undefined {
  const versions = versionsOf(spec);
  return versions.find(({ referenceable }) => referenceable === true) ?? versions[0];
}

function openApiOf({ schema }: JsonObject): JsonObject {
  const found = isJsonObject(schema) ? schema.openAPIV3Schema : undefined;
  const root = isJsonObject(found) ? found : { type: 'object' };
  // Crossplane requires `spec` of every resource.
  return hasSpec(root) ? { ...root, required: ['spec'] } : root;
}

function hasSpec({ properties }: JsonObject): boolean {
  return isJsonObject(properties) && isJsonObject(properties.spec);
}

const standardLabels: Readonly<Record<string, string>> = {
  'crossplane.io/claim-name': 'name',
  'crossplane.io/claim-namespace': 'namespace',
  'crossplane.io/composite': 'composite',
};

const machinerySchemas: Readonly<Record<string, JsonObject>> = {
  writeConnectionSecretToRef: {
    type: 'object',
    properties: { name: { type: 'string' }, namespace: { type: 'string' } },
  },
  compositionSelector: {
    type: 'object',
    properties: { matchLabels: { type: 'object', additionalProperties: { type: 'string' } } },
  },
};

/** The name of the composite resource, which is unique in the cluster. */
export function compositeName({ isClaim }: Composite): Value {
  return { ...pathValue(isClaim ? 'vars.compositeName' : 'metadata.name', true), type: textType };
}

/** A field of the composite resource. Undefined: it never has a value. */
export function compositeValue(
  steps: readonly PathStep[],
  composite: Composite,
): Value | undefined {
  const [first, second, third] = steps;
  if (steps.length === 1 && (first === 'kind' || first === 'apiVersion')) {
    const { group, version, kind } = composite.kind;
    const literal = first === 'kind' ? kind : `${group}/${version}`;
    return { ...pathValue(quoted(literal), true), type: textType, parts: [literal] };
  }
  if (first === 'metadata') return metadataValue(steps, composite);
  if (first === 'spec' && second === 'claimRef')
    return composite.isClaim ? identity(String(third), composite) : undefined;
  const added = first === 'spec' ? machinerySchemas[String(second)] : undefined;
  const isOwn = schemaFieldAt(composite.schema, steps.slice(0, 2)) !== undefined;
  if (added !== undefined && !isOwn) composite.machinery.set(String(second), added);
  const root = added !== undefined && !isOwn ? withMachinery(composite) : composite.schema;
  const field = schemaFieldAt(root, steps);
  const isStatus = first === 'status';
  return field && pathValue(jsonataPath(steps), field.isAlways && !isStatus, field.schema);
}

function metadataValue(steps: readonly PathStep[], composite: Composite): Value {
  const [, second, third] = steps;
  const standard = second === 'labels' ? standardLabels[String(third)] : undefined;
  if (standard !== undefined && (composite.isClaim || standard === 'composite'))
    return identity(standard, composite);
  if (second === 'name') return identity('composite', composite);
  const isAlways = second === 'uid' || (second === 'namespace' && composite.isNamespaced);
  const isMap = steps.length === 2 && (second === 'labels' || second === 'annotations');
  const strings = { type: 'object', additionalProperties: { type: 'string' } };
  return pathValue(jsonataPath(steps), isAlways, isMap ? strings : { type: 'string' });
}

function identity(field: string, composite: Composite): Value {
  if (field === 'composite') return compositeName(composite);
  return { ...pathValue(`metadata.${field}`, true), type: typeOfSchema({ type: 'string' }) };
}

function withMachinery({ schema, machinery }: Composite): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const spec = isJsonObject(properties.spec) ? properties.spec : { type: 'object' };
  const own = isJsonObject(spec.properties) ? spec.properties : {};
  const fields = { ...own, ...Object.fromEntries(machinery) };
  return { ...schema, properties: { ...properties, spec: { ...spec, properties: fields } } };
}

const definitionFields: ReadonlySet<string> = new Set([
  ...['group', 'names', 'claimNames', 'scope', 'versions', 'metadata', 'conversion'],
  ...['connectionSecretKeys', 'defaultCompositionRef', 'enforcedCompositionRef'],
]);

/** `crd` of the definition. */
export function convertComposite(
  document: JsonObject,
  composite: Composite,
  report: ImportReport,
): JsonObject {
  const spec = document.spec as JsonObject;
  reportFields(spec, composite, report);
  const { kind, names, isNamespaced } = composite;
  const versions = versionsOf(spec).map((version, index) =>
    convertVersion(version, { spec, composite, report, index }),
  );
  return {
    ...(isJsonObject(spec.metadata) && { metadata: spec.metadata }),
    group: kind.group,
    names: {
      ...names,
      ...(isJsonObject(spec.names) &&
      spec.names.categories !== undefined &&
      names.categories === undefined
        ? { categories: spec.names.categories }
        : {}),
    },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    versions,
  };
}

interface VersionContext {
  readonly spec: JsonObject;
  readonly composite: Composite;
  readonly report: ImportReport;
  readonly index: number;
}

function convertVersion(
  version: JsonObject,
  { spec, composite, report, index }: VersionContext,
): JsonObject {
  const pointer = pointerTo('/spec/versions', index);
  const { name, served, deprecated, deprecationWarning, additionalPrinterColumns } = version;
  const isStorage = version === storageVersion(spec);
  const isOnly = versionsOf(spec).length === 1;
  const place = `versions.${String(name)}`;
  report.converted({ name: place, pointer });
  const columns = convertPrinterColumns(additionalPrinterColumns, report, {
    name: `${place}.additionalPrinterColumns`,
    pointer: pointerTo(pointer, 'additionalPrinterColumns'),
  });
  return {
    name,
    ...(!isOnly && { served: served !== false, storage: isStorage }),
    ...(deprecated !== undefined && { deprecated }),
    ...(deprecationWarning !== undefined && { deprecationWarning }),
    schema: {
      openAPIV3Schema: isStorage ? withMachinery(composite) : openApiOf(version),
    },
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
  };
}

function reportFields(spec: JsonObject, { isClaim, kind }: Composite, report: ImportReport): void {
  const place = (field: string) => ({ name: field, pointer: `/spec/${field}`, isKey: true });
  report.converted(place('names'), isClaim ? ['the cluster-scoped kind is not created'] : []);
  if (isClaim)
    report.converted(place('claimNames'), [
      `users create "${kind.kind}" in their namespaces as before; its composite name is namespace and name`,
    ]);
  for (const field of ['connectionSecretKeys', 'metadata'])
    if (spec[field] !== undefined) report.converted(place(field));
  for (const field of ['defaultCompositionRef', 'enforcedCompositionRef'])
    if (spec[field] !== undefined)
      report.converted(place(field), ['the Composition is part of the definition']);
  const { conversion } = spec;
  if (isJsonObject(conversion) && conversion.strategy !== 'None')
    report.leftOut(place('conversion'), 'Versions are not converted by a webhook');
  for (const field of Object.keys(spec).filter((each) => !definitionFields.has(each)))
    if (field.startsWith('defaultComposit'))
      report.converted(place(field), ['one definition, rolled out by "controller.rollout"']);
    else report.leftOut(place(field), `The field "${field}" is not known`);
}

/** Fields of a claim or composite resource that only Crossplane needs. */
const crossplaneFields: ReadonlySet<string> = new Set([
  ...['compositionRef', 'compositionSelector', 'compositionRevisionRef', 'crossplane'],
  ...['compositionRevisionSelector', 'compositionUpdatePolicy', 'compositeDeletePolicy'],
  ...['claimRef', 'resourceRef', 'resourceRefs', 'environmentConfigRefs'],
  ...['publishConnectionDetailsTo', 'writeConnectionSecretToRef'],
]);

/** A claim or composite resource as a resource of the definition. Undefined: it is another object. */
export function sampleOf(
  document: JsonObject,
  definition: JsonObject,
  { kind, isClaim, schema, machinery }: Composite,
): KubeObject | undefined {
  const found = gvkOf(String(document.apiVersion), String(document.kind));
  const { names } = isJsonObject(definition.spec) ? definition.spec : {};
  const own = isJsonObject(names) ? { ...kind, kind: String(names.kind) } : kind;
  const key = gvkKey(found);
  if (key !== gvkKey(kind) && !(isClaim && key === gvkKey(own))) return undefined;
  const spec = isJsonObject(document.spec) ? document.spec : {};
  const isKept = (field: string) =>
    !crossplaneFields.has(field) || machinery.has(field) || hasField(schema, field);
  const kept = Object.entries(spec).filter(([field]) => isKept(field));
  return {
    ...(document as unknown as KubeObject),
    kind: kind.kind,
    spec: Object.fromEntries(kept) as Json,
  };
}

function hasField({ properties }: JsonObject, field: string): boolean {
  const spec = isJsonObject(properties) ? properties.spec : undefined;
  const fields = isJsonObject(spec) ? spec.properties : undefined;
  return isJsonObject(fields) && fields[field] !== undefined;
}
