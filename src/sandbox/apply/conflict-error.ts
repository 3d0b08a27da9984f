import { goQuote } from '../go-value.ts';
import { ApplyError, type ConflictCause } from './apply-error.ts';
import { type ManagerId, managerName } from './managed-fields.ts';
import { compareText, describePath } from './path-element.ts';
import { type PathSet, pathsOf } from './path-set.ts';

interface Conflict {
  readonly manager: string;
  readonly field: string;
}

/** The error of an apply that would change fields of other managers: lists the managers and the fields. */
export function conflictError(conflicts: ReadonlyMap<ManagerId, PathSet>): ApplyError {
  const all = [...conflicts]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([id, set]) => conflictsOf(id, set));
  const causes = all.map(
    ({ manager, field }): ConflictCause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field,
    }),
  );
  return new ApplyError('conflict', conflictMessage(all), causes);
}

function conflictsOf(id: ManagerId, set: PathSet): readonly Conflict[] {
  const manager = describeManager(id);
  return [...pathsOf(set)].map((path) => ({ manager, field: describePath(path) }));
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first, ...others] = conflicts;
  if (first !== undefined && others.length === 0)
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`;
  const lines: string[] = [];
  let previous: string | undefined;
  for (const { manager, field } of conflicts) {
    if (manager !== previous) lines.push(`conflicts with ${manager}:`);
    lines.push(`- ${field}`);
    previous = manager;
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function describeManager(id: ManagerId): string {
  const { manager, operation, apiVersion, subresource } = managerName(id);
  const where = subresource === undefined ? '' : ` with subresource ${goQuote(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${goQuote(manager)}${where}${using}`;
}
