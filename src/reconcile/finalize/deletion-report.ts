import { conditionsOf } from '../../util/conditions-of.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Problem } from '../failure.ts';
import { entriesFor } from '../pass/inventory.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { countChildren, listChildren } from '../report/build-report.ts';
import type { ChildEntry } from '../report/child-entries.ts';
import { standardConditions } from '../report/conditions.ts';
import { type Summary, summarise } from '../report/summary.ts';
import { type StatusOutcome, writeStatus } from '../resource/write-status.ts';
import { objectText } from '../secrecy.ts';
import { conditionTypesOf, isForeign, standardConditionTypes } from '../status-fields.ts';

/** So many objects are named in the message; `status.children` has the rest. */
const namedAtMost = 5;

/** What a deletion has come to. */
export interface DeletionReport {
  readonly entries: readonly ChildEntry[];
  /** What stands in the way besides. */
  readonly problems: readonly Problem[];
  readonly isOverdue: boolean;
}

/**
 * Says what the deletion of a resource waits for. What the author has mapped stays as it was: nobody knows what its expressions would
 * make of a world that is being taken down, and a definition that is broken cannot say.
 */
export async function reportDeletion(pass: Pass, report: DeletionReport): Promise<StatusOutcome> {
  return write(pass, summaryOf(report), report.entries);
}

/** Says that nothing is left of what a definition has made that was removed. */
export async function reportRetired(pass: Pass): Promise<StatusOutcome> {
  const message = 'Its definition was removed, and all that it had made';
  const isAtRest = { isStalled: false, isReconciling: false };
  return write(pass, { reason: 'Terminating', message, ...isAtRest }, []);
}

async function write(
  pass: Pass,
  summary: Summary,
  entries: readonly ChildEntry[],
): Promise<StatusOutcome> {
  const { resource, context, phaseInput } = pass;
  if (isForeign(context.plan) || context.isQuiet) return { kind: 'unchanged' };
  const status = isJsonObject(resource.status) ? resource.status : {};
  const types = conditionTypesOf(context.plan);
  // Without the definition nobody knows which of the others are its own: all of them stay.
  const others = conditionsOf(resource).filter(
    ({ type }) => !standardConditionTypes.has(type) && (context.isFinishing || types.has(type)),
  );
  const listed = entries.filter(({ isListed }) => isListed);
  return writeStatus(pass, {
    ...status,
    ...recordOf(pass),
    observedGeneration: resource.metadata.generation ?? 0,
    conditions: [...standardConditions({ resource, summary, now: phaseInput.now }), ...others],
    children: listChildren(listed),
    childCounts: countChildren(listed),
  });
}

/** All that was on record, and what `onDelete` has made since. */
function recordOf({ found: { inventory } }: Pass): { readonly childInventory?: readonly string[] } {
  if (inventory.written.size === 0) return {};
  const all = [...inventory.recorded.keys(), ...inventory.written];
  return { childInventory: entriesFor(all) };
}

/** Did the report of an earlier pass say that the time of `onDelete` is over? */
export function wasOverdue({ resource }: Given): boolean {
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

/** What is waited for, by name. */
export function messageOf(entries: readonly ChildEntry[], problems: readonly Problem[]): string {
  const named = entries
    .filter(({ isListed, decision }) => isListed && decision.state !== 'Ready')
    // What they wait for is named.
    .filter(({ isQueued }) => isQueued !== true)
    .map(({ decision: { childId, kind, name, state, message }, about }) => {
      const what = `${objectText(kind, name, about)} of "${childId}"`;
      if (state === 'Deleting') return `${what} to go`;
      return `${what} to be ready${message === '' ? '' : ` (${message})`}`;
    });
  const all = [...problems.map(({ message }) => message), ...named];
  const rest = all.length - namedAtMost;
  const told = all.slice(0, namedAtMost).join(', ');
  if (told === '') return 'The deletion is being finished';
  return `The deletion waits for ${told}${rest > 0 ? `, and ${rest} more` : ''}`;
}
