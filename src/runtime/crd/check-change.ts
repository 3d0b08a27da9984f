import { type Diagnostic, locate, type SourceMap } from '../../definition/index.ts';
import { definitionLabel } from '../../reconcile/index.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { breakingChanges } from './change/index.ts';
import type { CrdDefinition } from './crd-definition.ts';

/** A change of a CRD that breaks what is stored. */
export interface BreakingCrd {
  readonly message: string;
  /** Every reason, where the definition stands. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What the definition would break of the CRD that is there; undefined: nothing, or it may (`crdPolicy.allowBreakingChanges`). */
export function checkChange(
  live: KubeObject,
  definition: CrdDefinition,
  source: SourceMap,
): BreakingCrd | undefined {
  const { crd, crdPolicy } = definition.kind;
  if (crdPolicy.allowBreakingChanges || !isJsonObject(live.spec) || !isJsonObject(crd.spec)) {
    return undefined;
  }
  const changes = breakingChanges({
    installed: live.spec,
    wanted: crd.spec,
    storedVersions: storedVersionsOf(live),
    isOurs: live.metadata.labels?.[definitionLabel] === definition.name,
  });
  if (changes.length === 0) return undefined;
  const count = changes.length === 1 ? 'one reason' : `${changes.length} reasons`;
  return {
    message: `The change of the CustomResourceDefinition "${crd.metadata.name}" would break stored resources (${count})`,
    diagnostics: changes.map(({ path, message }) => {
      // The CRD's spec is `spec.crd` of the definition, filled in.
      const inDefinition = path.replace('/spec', '/spec/crd');
      return locate({ code, at: 'key', path: inDefinition, message, hint }, source);
    }),
  };
}

const code = 'breaking-change';
const hint =
  'It is compared with the CustomResourceDefinition that is installed; "crdPolicy: { allowBreakingChanges: true }" installs it all the same';

/** Versions in which resources may be stored. */
export function storedVersionsOf({ status }: KubeObject): readonly string[] {
  const { storedVersions } = (status ?? {}) as { readonly storedVersions?: unknown };
  return Array.isArray(storedVersions) ? storedVersions.map(String) : [];
}
