import type { GroupKind } from '../../util/gvk.ts';

/** The kinds in an annotation: `Secret,apps/Deployment`. What is no kind is left out: people edit annotations. */
export function parseKinds(text: string | undefined): readonly GroupKind[] {
  return (text ?? '')
    .split(',')
    .map((part) => parseKind(part.trim()))
    .filter(({ kind }) => kind !== '');
}

/** Kinds as an annotation holds them: each once, in an order that does not depend on theirs. */
export function kindsText(kinds: Iterable<GroupKind>): string {
  return [...new Set(Array.from(kinds, kindText))].sort().join(',');
}

/** `Secret`, `apps/Deployment`. */
export function kindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${group}/${kind}`;
}

/** The reverse of {@link kindText}. */
export function parseKind(text: string): GroupKind {
  const slash = text.lastIndexOf('/');
  const group = slash < 0 ? '' : text.slice(0, slash).trim();
  return { group, kind: text.slice(slash + 1).trim() };
}

/** Kinds by their text. */
export function kindMap(kinds: Iterable<GroupKind>): ReadonlyMap<string, GroupKind> {
  return new Map(
    Array.from(kinds, ({ group, kind }) => [kindText({ group, kind }), { group, kind }]),
  );
}
