import { conditionsOf } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { entriesFor } from '../pass/inventory.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { countChildren, listChildren } from '../report/build-report.ts';
import type { ChildEntry } from '../report/child-entries.ts';
import { standardConditions } from '../report/conditions.ts';
import { type Summary, summarise } from '../report/summary.ts';
import { type StatusOutcome, writeStatus } from '../resource/write-status.ts';
import { objectText } from '../secrecy.ts';
import { conditionTypesOf, isForeign, standardConditionTypes, statusOf } from '../status-fields.ts';

/** Maximum number of objects in the message; `status.children` has all of them. */
const maxNames = 5;

/** The state of a deletion. */
interface DeletionReport {
  readonly entries: readonly ChildEntry[];
  /** Further problems. */
  readonly problems: readonly Problem[];
  readonly isOverdue: boolean;
}

/**
 * Reports what the deletion of a resource waits for. Mapped status fields keep their values: their expressions may fail during a deletion,
 * and a broken definition has none.
 */
export async function reportDeletion(pass: Pass, report: DeletionReport): Promise<StatusOutcome> {
  return writeDeletionStatus(pass, summaryOf(report), report.entries);
}

/** Reports that all objects of a removed definition are deleted. */
export async function reportUninstalled(pass: Pass): Promise<StatusOutcome> {
  const message = 'The definition was removed and its created objects are deleted';
  const idle = { isStalled: false, isReconciling: false };
  return writeDeletionStatus(pass, { reason: 'Terminating', message, ...idle }, []);
}

async function writeDeletionStatus(
  pass: Pass,
  summary: Summary,
  entries: readonly ChildEntry[],
): Promise<StatusOutcome> {
  const { resource, context } = pass;
  if (isForeign(context.plan)) return { kind: 'unchanged' };
  const types = conditionTypesOf(context.plan);
  // Without the definition, the author's conditions are unknown: all of them are kept.
  const others = conditionsOf(resource).filter(
    ({ type }) => !standardConditionTypes.has(type) && (context.isFinalizeOnly || types.has(type)),
  );
  const listed = entries.filter(({ isListed }) => isListed);
  return writeStatus(pass, {
    ...statusOf(resource),
    ...inventoryFields(pass),
    observedGeneration: resource.metadata.generation ?? 0,
    conditions: [...standardConditions(pass, summary), ...others],
    children: listChildren(listed),
    childCounts: countChildren(listed),
  });
}

/** The inventory with the objects of `onDelete`. */
function inventoryFields({ findings: { inventory } }: Pass): {
  readonly childInventory?: readonly string[];
} {
  if (inventory.written.size === 0) return {};
  const all = [...inventory.recorded.keys(), ...inventory.written];
  return { childInventory: entriesFor(all) };
}

/** Did an earlier report have the timeout of `onDelete`? */
export function wasOverdue({ resource }: PassInput): boolean {
  return conditionsOf(resource).some(
    ({ type, reason }) => type === 'Stalled' && reason === 'Terminating',
  );
}

function summaryOf({ entries, problems, isOverdue }: DeletionReport): Summary {
  const blocked = summarise(
    entries.filter(({ problem }) => problem !== undefined),
    problems,
    undefined,
  );
  const isBlocked = blocked.reason !== 'AllReady' && blocked.reason !== 'Waiting';
  if (isBlocked) return blocked;
  const message = messageOf(entries, problems);
  return { reason: 'Terminating', message, isStalled: isOverdue, isReconciling: !isOverdue };
}

/** Names what the deletion waits for. */
export function messageOf(entries: readonly ChildEntry[], problems: readonly Problem[]): string {
  const named = entries
    .filter(({ isListed, decision }) => isListed && decision.state !== 'Ready')
    // Not objects that only wait for others in the list.
    .filter(({ isQueued }) => isQueued !== true)
    .map(({ decision: { childId, kind, name, state, message }, about, heldBy }) => {
      const what = `${objectText(kind, name, about)} (child "${childId}")`;
      if (state === 'Deleting')
        return `${what} to be deleted${heldBy === undefined ? '' : `: ${heldBy}`}`;
      return `${what} to be ready${message === '' ? '' : `: ${message}`}`;
    });
  const blocking = problems.flatMap(({ waitingFor, message }) => waitingFor ?? [message]);
  const all = [...blocking, ...named];
  const rest = all.length - maxNames;
  const shown = all.slice(0, maxNames).join(', ');
  if (shown === '') return 'Finishing the deletion';
  return `Waiting for ${shown}${rest > 0 ? `, and ${rest} more` : ''}`;
}
