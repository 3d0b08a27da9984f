import { breakingChanges } from '#check';
import { type CrdDefinition, type Diagnostic, locate, type SourceMap } from '#definition';
import { definitionLabel } from '#reconcile';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Why a CRD cannot be installed: a state to report, not an error to retry blindly. */
export interface CrdRejection {
  readonly message: string;
  /** Diagnostics with positions in the definition, if known. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks whether the definition's CRD breaks the installed one. Undefined: compatible. */
export function checkChange(
  live: KubeObject,
  crd: KubeObject,
  { definition, source }: { readonly definition: CrdDefinition; readonly source: SourceMap },
): CrdRejection | undefined {
  if (!isJsonObject(live.spec) || !isJsonObject(crd.spec)) return undefined;
  const changes = breakingChanges({
    installed: live.spec,
    desired: crd.spec,
    storedVersions: storedVersionsOf(live),
    isOurs: live.metadata.labels?.[definitionLabel] === definition.name,
  });
  if (changes.length === 0) return undefined;
  const count = changes.length === 1 ? 'one reason' : `${changes.length} reasons`;
  return {
    message: `The change of the CustomResourceDefinition "${crd.metadata.name}" would break stored resources (${count})`,
    diagnostics: changes.map(({ path, message }) => {
      // The CRD's `spec` is the completed `spec.crd` of the definition.
      const inDefinition = path.replace('/spec', '/spec/crd');
      return locate({ code, at: 'key', path: inDefinition, message, hint }, source);
    }),
  };
}

const code = 'breaking-change';
const hint =
  'Compared with the installed CustomResourceDefinition; set "crdPolicy: { allowBreakingChanges: true }" to install it anyway';

/** Versions in which resources may be stored. */
export function storedVersionsOf({ status }: KubeObject): readonly string[] {
  const { storedVersions } = (status ?? {}) as { readonly storedVersions?: unknown };
  return Array.isArray(storedVersions) ? storedVersions.map(String) : [];
}
