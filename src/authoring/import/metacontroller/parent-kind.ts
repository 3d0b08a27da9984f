import { bundledSchemas } from '#compile';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { ConstructPlace, ImportReport } from '../import-report.ts';
import type { SourceDocument } from '../importer.ts';
import { crdOf, kindOf } from './resource-kinds.ts';

/** The kind whose objects are parents. */
export interface ParentKind {
  readonly gvk: Gvk;
  readonly isNamespaced: boolean;
  /** Its CustomResourceDefinition, if it becomes part of the definition. */
  readonly crd: SourceDocument | undefined;
  /** `crd` or `for` of the definition, whose status has these fields. */
  fields(status: JsonObject): JsonObject;
}

interface ParentContext {
  readonly documents: readonly SourceDocument[];
  readonly report: ImportReport;
  readonly isDecorator: boolean;
}

/** Undefined: the kind is not known, which is in the report. */
export function parentKind(
  rule: JsonObject,
  place: ConstructPlace,
  { documents, report, isDecorator }: ParentContext,
): ParentKind | undefined {
  const [apiVersion, resource] = [String(rule.apiVersion), String(rule.resource)];
  const gvk = kindOf(apiVersion, resource, documents);
  const document = crdOf(apiVersion, resource, documents);
  const spec = document?.value.spec;
  if (gvk === undefined || (document !== undefined && !isCurrent(document))) {
    report.leftOut(
      place,
      gvk === undefined
        ? `The files have no CustomResourceDefinition of "${resource}"`
        : 'Its CustomResourceDefinition is not of version "apiextensions.k8s.io/v1"',
      `Add the output of "kubectl get crd ${resource}.${gvk?.group ?? apiVersion.split('/')[0]} -o yaml"`,
    );
    return undefined;
  }
  const { labelSelector, annotationSelector, revisionHistory } = rule;
  const isNamespaced = isJsonObject(spec)
    ? spec.scope !== 'Cluster'
    : bundledSchemas().isNamespaced(gvk) !== false;
  const isOwn = isJsonObject(spec) && !isDecorator && labelSelector === undefined;
  const notes = [
    ...(isJsonObject(spec) && !isOwn ? ['the kind stays installed as it is'] : []),
    ...(revisionHistory === undefined
      ? []
      : ['every field is rolled out, not only those of "revisionHistory"']),
  ];
  report.converted(place, notes);
  if (!isOwn)
    return {
      gvk,
      isNamespaced,
      crd: document,
      fields: () => ({
        for: {
          apiVersion,
          kind: gvk.kind,
          ...(labelSelector !== undefined && { selector: labelSelector }),
          ...(annotationSelector !== undefined && { annotationSelector }),
        },
      }),
    };
  if (document !== undefined)
    report.in(document.source).converted({ name: 'CustomResourceDefinition', pointer: '/spec' });
  return {
    gvk,
    isNamespaced,
    crd: document,
    // The kind exists where the controller runs.
    fields: (status) => ({
      crd: crdSpec(spec, gvk, status),
      crdPolicy: { adopt: true },
    }),
  };
}

function isCurrent({ value }: SourceDocument): boolean {
  return value.apiVersion === 'apiextensions.k8s.io/v1';
}

function crdSpec(
  { conversion, ...spec }: JsonObject,
  { version }: Gvk,
  status: JsonObject,
): JsonObject {
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isJsonObject) : [];
  const isPlain = isJsonObject(conversion) && conversion.strategy === 'None';
  return {
    ...spec,
    ...(conversion !== undefined && !isPlain && { conversion }),
    versions: versions.map((each) =>
      each.name === version ? { ...each, schema: withStatus(each.schema, status) } : each,
    ),
  };
}

/** The schema with the status fields that are mapped. */
function withStatus(schema: Json | undefined, status: JsonObject): JsonObject {
  const root =
    isJsonObject(schema) && isJsonObject(schema.openAPIV3Schema)
      ? schema.openAPIV3Schema
      : { type: 'object' };
  const properties = isJsonObject(root.properties) ? root.properties : {};
  const own = isJsonObject(properties.status) ? properties.status : { type: 'object' };
  const fields = isJsonObject(own.properties) ? own.properties : {};
  const missing = Object.keys(status).filter((field) => fields[field] === undefined);
  if (missing.length === 0 || own['x-kubernetes-preserve-unknown-fields'] === true)
    return { openAPIV3Schema: root };
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const more = Object.fromEntries(missing.map((field) => [field, open]));
  return {
    openAPIV3Schema: {
      ...root,
      properties: { ...properties, status: { ...own, properties: { ...fields, ...more } } },
    },
  };
}
