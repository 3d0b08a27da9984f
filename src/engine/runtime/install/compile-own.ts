import {
  type AdmissionPlace,
  admissionDefinitionOf,
  admissionKindsOf,
  compileAdmission,
  compileInstall,
  type InstallCompileResult,
  installDefinitionOf,
} from '#compile';
import type { LocatedDefinition } from '#definition';
import { KubeError } from '#kube/roles.ts';
import type { GroupKind } from '#util/gvk.ts';
import type { OwnPart } from '#util/stored-names.ts';
import { fetchSchemas } from '../prepare/prepare-definition.ts';
import type { SharedOptions } from '../runner-options.ts';

type CompileOwn = (
  located: LocatedDefinition,
  options: Pick<SharedOptions, 'cluster' | 'ownSchema' | 'coverage' | 'guardedNamespaces'> &
    Pick<AdmissionPlace, 'omitsDefaults'>,
  signal: AbortSignal,
) => Promise<InstallCompileResult>;

/**
 * Compiles the objects of a part of a definition with the schemas that the API server publishes.
 * @throws KubeError when a request fails
 */
export const compileOwn: Readonly<Record<OwnPart, CompileOwn>> = {
  async install(located, options, signal) {
    const whole = installDefinitionOf(located).definition;
    return compileInstall(located, await fetchSchemas(whole, options, signal), options.coverage);
  },
  async admission(located, options, signal) {
    const place = await placeOf(located, options, signal);
    const { definition } = admissionDefinitionOf(located, undefined, place);
    // The schema of its kind says which fields are compared.
    const used = { ...definition, kind: located.definition.kind };
    return compileAdmission(located, await fetchSchemas(used, options, signal), place);
  },
};

/** The kinds of the objects of a part, as far as the definition is known. Pure. */
export function ownKindsOf(
  part: OwnPart,
  located: LocatedDefinition | undefined,
): readonly GroupKind[] {
  if (located === undefined) return [];
  if (part === 'admission') {
    const { admission } = located.definition;
    return admission === undefined ? [] : admissionKindsOf(admission);
  }
  return installDefinitionOf(located).definition.children.map(({ gvk }) => gvk);
}

async function placeOf(
  { definition: { kind, admission } }: LocatedDefinition,
  { cluster, guardedNamespaces = new Set(), omitsDefaults = false }: Parameters<CompileOwn>[1],
  signal: AbortSignal,
): Promise<AdmissionPlace> {
  if (kind.source === 'crd') return { plural: kind.plural, guardedNamespaces, omitsDefaults };
  // Without rules, nothing depends on the kind.
  const plural = admission && (await cluster.lookUp(kind.gvk, signal))?.plural;
  if (admission !== undefined && plural === undefined)
    throw new KubeError('not-found', `The kind "${kind.gvk.kind}" is not served`, { status: 404 });
  return { plural: plural ?? '', guardedNamespaces, omitsDefaults };
}
