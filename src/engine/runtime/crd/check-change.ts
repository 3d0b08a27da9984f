import { type BreakingChange, breakingChanges } from '#check';
import { type CrdDefinition, type Diagnostic, locate, type SourceMap } from '#definition';
import { definitionLabel } from '#reconcile';
import type { BackoffOptions } from '#util/backoff.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Why a CRD cannot be installed: a state to report, not an error to retry blindly. */
export interface CrdRejection {
  readonly message: string;
  /** Diagnostics with positions in the definition, if known. */
  readonly diagnostics: readonly Diagnostic[];
  /** Until it is installed again. @default those after other failures */
  readonly delays?: BackoffOptions;
}

interface CheckOptions {
  readonly definition: CrdDefinition;
  readonly source: SourceMap;
  /** Whether breaking changes are allowed. */
  readonly isAllowed: boolean;
}

/** Result of a check. Empty: compatible. */
interface ChangeCheck {
  /** Why the CRD must not be installed. */
  readonly obstacle?: CrdRejection;
  /** What breaks, if that is allowed. */
  readonly allowed?: readonly Diagnostic[];
}

/** Checks whether the definition's CRD breaks the installed one. */
export function checkChange(
  live: KubeObject,
  crd: KubeObject,
  { definition, source, isAllowed }: CheckOptions,
): ChangeCheck {
  if (!isJsonObject(live.spec) || !isJsonObject(crd.spec)) return {};
  const changes = breakingChanges({
    installed: live.spec,
    desired: crd.spec,
    storedVersions: storedVersionsOf(live),
    isOurs: live.metadata.labels?.[definitionLabel] === definition.name,
  });
  // The API server rejects these, whatever is allowed, and others follow from them.
  const skipped = changes.filter(({ storedVersion }) => storedVersion !== undefined);
  const which = `The change of the CustomResourceDefinition "${crd.metadata.name}"`;
  if (skipped.length > 0)
    return {
      obstacle: { message: `${which} skips a step`, diagnostics: locatedIn(skipped, source) },
    };
  if (changes.length === 0) return {};
  const diagnostics = locatedIn(changes, source);
  if (isAllowed) return { allowed: diagnostics };
  const count = changes.length === 1 ? 'one reason' : `${changes.length} reasons`;
  return {
    obstacle: { message: `${which} would break stored resources (${count})`, diagnostics },
  };
}

function locatedIn(changes: readonly BreakingChange[], source: SourceMap): readonly Diagnostic[] {
  return changes.map((change) => located(change, source));
}

function located({ path, message, storedVersion }: BreakingChange, source: SourceMap): Diagnostic {
  // The CRD's `spec` is the completed `spec.crd` of the definition.
  const inDefinition = path.replace('/spec', '/spec/crd');
  const hint = storedVersion === undefined ? allowHint : stepHint(storedVersion);
  return locate({ code: 'breaking-change', at: 'key', path: inDefinition, message, hint }, source);
}

const allowHint =
  'Compared with the installed CustomResourceDefinition; set "crdPolicy: { allowBreakingChanges: true }" to install it anyway';

function stepHint(version: string): string {
  return `First store resources in another version: keep "${version}" with "storage: false" until "status.storedVersions" of the installed CustomResourceDefinition lacks it. Make and undo changes step by step, as in docs/versions.md`;
}

/** Versions in which resources may be stored. */
export function storedVersionsOf({ status }: KubeObject): readonly string[] {
  const { storedVersions } = (status ?? {}) as { readonly storedVersions?: unknown };
  return Array.isArray(storedVersions) ? storedVersions.map(String) : [];
}
