import type { OperatorPlan } from '../../compile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { finalizerOf, inventoryAnnotationOf } from '../names.ts';

/** The kinds in an annotation: `Secret,apps/Deployment`. What is no kind is left out: people edit annotations. */
export function parseKinds(text: string | undefined): readonly GroupKind[] {
  return (text ?? '').split(',').flatMap((part) => {
    const slash = part.lastIndexOf('/');
    const group = slash < 0 ? '' : part.slice(0, slash).trim();
    const kind = part.slice(slash + 1).trim();
    return kind === '' ? [] : [{ group, kind }];
  });
}

/** Kinds as an annotation holds them: each once, in an order that does not depend on theirs. */
export function kindsText(kinds: Iterable<GroupKind>): string {
  return [...new Set(Array.from(kinds, kindText))].sort().join(',');
}

/** `Secret`, `apps/Deployment`. */
export function kindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${group}/${kind}`;
}

/** The kinds of what carries only our labels. */
export function detachedKinds({ children, onDelete }: OperatorPlan): readonly GroupKind[] {
  const all = [...children, ...(onDelete?.children ?? [])];
  return all.filter(({ isDetached }) => isDetached).map(({ gvk }) => gvk);
}

/** Does the resource wait for us before it goes? */
export function hasFinalizer({ metadata }: KubeObject, definition: string): boolean {
  return metadata.finalizers?.includes(finalizerOf(definition)) === true;
}

/** The kinds that a resource says it has children of. */
export function inventoryOf({ metadata }: KubeObject, definition: string): readonly GroupKind[] {
  return parseKinds(metadata.annotations?.[inventoryAnnotationOf(definition)]);
}
