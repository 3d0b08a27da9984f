import { withFieldVersion } from '#util/field-versions.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import type { CrdRejection } from './check-change.ts';
import { fieldConversion } from './conversion/converted-fields.ts';
import { withoutUnusedPreserved } from './conversion/unused-preserved.ts';
import { type CrdContext, storedKind } from './crd-definition.ts';
import { editResources } from './edit-resources.ts';

/** Versions of the installed CRD that the definition's CRD does not have. */
export function removedVersions(live: KubeObject, { definition }: Pick<CrdContext, 'definition'>) {
  const kept = versionNames(definition.kind.crd);
  return versionNames(live).filter((name) => !kept.includes(name));
}

/** Whether the definition has no rules any more, by which the installed CRD converts. */
export function losesRules(live: KubeObject, { definition }: Pick<CrdContext, 'definition'>) {
  const hadRules = live.metadata.annotations?.[conversionsAnnotation] !== undefined;
  return hadRules && definition.conversions === undefined;
}

/**
 * Renames the versions that are about to be removed in `metadata.managedFields` of all resources, to the one in which they are stored:
 * after the removal, the API server would reject every apply to a resource that names one of them. Removes preserved values that no version can
 * need any more. Resources without any of these are only read.
 * @returns why a version cannot be removed: the server rejects resources
 * @throws KubeError when a request fails.
 */
export async function renameFieldVersions(
  context: CrdContext,
  { live, removed }: { readonly live: KubeObject; readonly removed: readonly string[] },
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const gvk = storedKind(live)?.gvk;
  // Another storage version, or one that is not served, is the server's or the author's mistake; it is not hidden here.
  if (gvk === undefined || removed.includes(gvk.version)) return undefined;
  if ((await context.cluster.lookUp(gvk, signal)) === undefined) return undefined;
  const isRemoved = (apiVersion: string) =>
    removed.some((version) => apiVersion === `${gvk.group}/${version}`);
  const hasRules = !losesRules(live, context);
  const converted = fieldConversion(live, gvk.version);
  const convert = (fields: JsonObject, apiVersion: string) =>
    converted?.(fields, apiVersion.slice(gvk.group.length + 1)) ?? fields;
  const { rejected, reason } = await editResources(
    context,
    {
      gvk,
      readsFields: true,
      change: ({ managedFields, annotations }) => {
        const unused = withoutUnusedPreserved(annotations, { removed, hasRules });
        const entries = withFieldVersion(
          managedFields,
          isRemoved,
          `${gvk.group}/${gvk.version}`,
          convert,
        );
        if (entries === undefined && unused === undefined) return undefined;
        return {
          ...(entries !== undefined && { managedFields: entries }),
          ...(unused !== undefined && { annotations: unused }),
        };
      },
    },
    signal,
  );
  if (rejected.length === 0) return undefined;
  const names = rejected.map((name) => `"${name}"`).join(', ');
  if (removed.length === 0)
    return {
      message: `"conversions" cannot be removed: preserved values cannot be removed from ${gvk.kind} ${names}: ${reason}`,
      diagnostics: [],
    };
  return {
    message: `Version ${removed.map((name) => `"${name}"`).join(', ')} cannot be removed: fields in it cannot be renamed in ${gvk.kind} ${names}: ${reason}`,
    diagnostics: [],
  };
}

/** Names of the versions of a CRD. */
export function versionNames({ spec }: KubeObject): readonly string[] {
  const versions = isJsonObject(spec) && Array.isArray(spec.versions) ? spec.versions : [];
  return versions.filter(isJsonObject).map(({ name }) => String(name));
}
