import { createConverter, versionsOfCrd } from '#conversion';
import { conversionYaml, definesCrd, type OperatorDefinition } from '#definition';
import { apiVersionOf, gvkOf } from '#util/gvk.ts';
import { type JsonObject, objectAt } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A resource in the version that its definition reads, or why it is not known. */
export type InReadVersion =
  | { readonly resource: KubeObject; readonly problem?: undefined }
  | {
      readonly resource?: undefined;
      /** One sentence without a period at the end. */
      readonly problem: string;
    };

/**
 * Converts a resource of the definition's kind to the version that the definition reads, as the API server does when it stores it: by
 * `conversions`, or by its `apiVersion` alone. A webhook of the author is not asked. Pure.
 */
export function inReadVersion(definition: OperatorDefinition, resource: KubeObject): InReadVersion {
  const { gvk } = definition.kind;
  const { version } = gvkOf(resource.apiVersion, resource.kind);
  if (version === gvk.version) return { resource };
  const { name } = resource.metadata;
  const unknown = `${gvk.kind} "${name}" is in version "${version}": a plan needs it in "${gvk.version}"`;
  if (!definesCrd(definition)) return { problem: unknown };
  const { crd } = definition.kind;
  if (definition.conversions === undefined) {
    const { strategy = 'None' } = objectAt(objectAt(crd, 'spec'), 'conversion') ?? {};
    return strategy === 'None'
      ? { resource: { ...resource, apiVersion: apiVersionOf(gvk) } }
      : { problem: unknown };
  }
  const { object, problem } = createConverter({
    ...versionsOfCrd(crd),
    rules: definition.conversions,
    yaml: conversionYaml,
  }).convert(resource as unknown as JsonObject, gvk.version);
  return object === undefined
    ? { problem: `${unknown}: ${problem}` }
    : { resource: object as unknown as KubeObject };
}
