import type { FieldPath } from '../operator-plan.ts';
import type { SlotReference } from '../template/template.ts';

/** Paths below `root.id` among references: `children.db.status.ready` -> `['status', 'ready']`. Everything: `[[]]`. */
export function pathsBelow(
  references: readonly SlotReference[],
  root: 'children' | 'observed' | 'reads',
  id: string,
): readonly FieldPath[] {
  return shortest(
    references.flatMap(({ reference }) => {
      if (reference.root !== root) return [];
      const [first, ...rest] = reference.path;
      return first === undefined || first === id ? [rest] : [];
    }),
  );
}

/** Status fields of the resource among references, from the root: `['status', 'phase']`. */
export function statusPaths(references: readonly SlotReference[]): readonly FieldPath[] {
  return shortest(
    references.flatMap(({ reference: { root, path } }) => {
      if (root !== 'resource') return [];
      if (path.length === 0) return [['status']];
      return path[0] === 'status' ? [path] : [];
    }),
  );
}

/** Without doubles and paths that lie below others. */
export function shortest(paths: readonly FieldPath[]): readonly FieldPath[] {
  const kept: FieldPath[] = [];
  for (const path of paths.toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((shorter) => shorter.every((step, index) => step === path[index]))) {
      kept.push(path);
    }
  }
  return kept;
}
