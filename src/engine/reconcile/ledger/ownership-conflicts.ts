import type { ChildPlan } from '#compile';
import { type Cluster, KubeError, type PassToken, type StoredObject } from '#kube/roles.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { fieldName, valueAtSteps } from '#util/field-path.ts';
import { sha256Hex } from '#util/sha256.ts';
import { appliedAnnotation, fieldManagerOf } from '#util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { differences } from '../intent/compare.ts';
import type { Difference } from '../intent/difference.ts';
import { holdsField } from '../intent/field-steps.ts';
import { type Intent, isSameIntent } from '../intent/intent.ts';
import { type Disclosure, fieldTexts } from '../secrecy.ts';
import type { RepairBackoff, RepairedField, Repairs } from './entries.ts';
import { type LedgerContext, remainingMs } from './ledger.ts';

/** What is applied and compared: a child, or the fields of a patch. */
export interface AppliedIntent {
  readonly intent: Intent;
  readonly plan: Disclosure & Pick<ChildPlan, 'type'>;
  /** Our field manager. @default that of the definition's children */
  readonly manager?: string;
}

/** The parts of a pass needed to look up field managers. */
export interface ConflictContext extends LedgerContext {
  readonly context: LedgerContext['context'] & {
    readonly plan: { readonly name: string };
    readonly cluster: Pick<Cluster, 'managedFields'>;
  };
  readonly token: PassToken;
  readonly signal: AbortSignal;
}

/** Number of consecutive immediate reverts of a field. */
const maxRepairs = 5;
/** Reverts further apart are not consecutive. */
const maxRepairGapMs = 120_000;
const minBackoffMs = 10_000;
const maxBackoffMs = 300_000;

/**
 * The loop guard. If another manager changes the same field after every revert, the field is left alone for a while
 * and both managers are reported. Undefined: it may be reverted now.
 */
export async function ownershipConflict(
  pass: ConflictContext,
  desired: AppliedIntent,
  live: StoredObject,
): Promise<Problem | undefined> {
  const repairs = pass.state.ledger.get('contested', desired.intent.identity);
  if (repairs === undefined) return undefined;
  const changed = changedAgain(repairs, desired, live);
  if (changed.length === 0) return undefined;
  const { backoff } = repairs;
  if (backoff === undefined) return beginBackoff(pass, desired, { repairs, changed });
  const { intent } = desired;
  if (!isSameIntent(backoff.intent, intent)) {
    setRepairs(pass, desired, { ...repairs, backoff: { ...backoff, intent } });
    return undefined;
  }
  const waitMs = remainingMs(pass, repairs);
  if (waitMs > 0) return problemOf(backoff, waitMs);
  // Revert once more; if the field changes again, the backoff is longer.
  const lengthMs = Math.min(backoff.lengthMs * 2, maxBackoffMs);
  const untilMs = pass.context.clock.monotonicMs() + lengthMs;
  setRepairs(pass, desired, { ...repairs, untilMs, backoff: { ...backoff, lengthMs } });
  return undefined;
}

/** The conflict to report for an object that is as desired: it ends only when no manager changes the field for a whole backoff. */
export function ongoingConflict(pass: LedgerContext, desired: AppliedIntent): Problem | undefined {
  const { intent } = desired;
  const repairs = pass.state.ledger.get('contested', intent.identity);
  if (repairs?.backoff === undefined) return undefined;
  const isSameField = [...repairs.fields.values()].some(
    ({ steps, want }) => digestOf(valueAtSteps(intent.manifest, steps)) === want,
  );
  const waitMs = remainingMs(pass, repairs);
  if (isSameField && waitMs > 0) return problemOf(repairs.backoff, waitMs);
  pass.state.ledger.delete('contested', intent.identity);
  return undefined;
}

/** Stores a revert of an object. `found`: the differences made by other managers or a new intent. */
export function recordRepair(
  pass: LedgerContext,
  desired: AppliedIntent,
  found: readonly Difference[],
): void {
  const atMs = pass.context.clock.monotonicMs();
  const fields = new Map(
    orAppliedAnnotation(found).map((each) => [fieldName(each.path), repairedField(each)]),
  );
  const before = pass.state.ledger.get('contested', desired.intent.identity);
  const repeated = new Map(
    [...fields].filter(([name, { want }]) => before?.fields.get(name)?.want === want),
  );
  if (before === undefined || repeated.size === 0) {
    setRepairs(pass, desired, { fields, count: 1, atMs, untilMs: atMs });
  } else if (before.backoff !== undefined) {
    setRepairs(pass, desired, { ...before, atMs });
  } else {
    const isConsecutive = atMs - before.atMs <= maxRepairGapMs;
    const count = isConsecutive ? before.count + 1 : 1;
    setRepairs(pass, desired, { fields: repeated, count, atMs, untilMs: atMs });
  }
}

function setRepairs({ state }: LedgerContext, { intent }: AppliedIntent, repairs: Repairs): void {
  state.ledger.set('contested', repairs, intent.identity);
}

interface Drift {
  readonly repairs: Repairs;
  readonly changed: readonly Difference[];
}

async function beginBackoff(
  pass: ConflictContext,
  desired: AppliedIntent,
  { repairs, changed }: Drift,
): Promise<Problem | undefined> {
  const nowMs = pass.context.clock.monotonicMs();
  if (repairs.count < maxRepairs || nowMs - repairs.atMs > maxRepairGapMs) return undefined;
  const message = messageOf(pass, desired, {
    changed,
    managers: await managersOf(pass, desired, changed),
  });
  const lengthMs = minBackoffMs;
  const backoff = { message, intent: desired.intent, lengthMs };
  setRepairs(pass, desired, { ...repairs, untilMs: nowMs + lengthMs, backoff });
  return problemOf(backoff, lengthMs);
}

/** The differences in fields that were reverted before, to the same value. */
function changedAgain(
  { fields }: Repairs,
  { intent, plan }: AppliedIntent,
  live: StoredObject,
): readonly Difference[] {
  return orAppliedAnnotation(differences(intent.manifest, live.object, plan.type)).filter(
    (found) => fields.get(fieldName(found.path))?.want === repairedField(found).want,
  );
}

/** If no value differs, the annotation of the last applied intent does. */
function orAppliedAnnotation(found: readonly Difference[]): readonly Difference[] {
  const path = ['metadata', 'annotations', appliedAnnotation];
  return found.length > 0 ? found : [{ path, want: undefined, have: undefined }];
}

function repairedField({ path, want }: Difference): RepairedField {
  return { steps: path, want: digestOf(want) };
}

function digestOf(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return text.length <= 64 ? text : sha256Hex(text);
}

/** The managers that own the fields now, according to the server. */
async function managersOf(
  pass: ConflictContext,
  { intent, manager: ours = fieldManagerOf(pass.context.plan.name) }: AppliedIntent,
  changed: readonly Difference[],
): Promise<readonly string[]> {
  try {
    const owners = await pass.context.cluster.managedFields(
      intent.ref,
      { flow: { name: pass.context.plan.name, priority: 'object' }, pass: pass.token },
      pass.signal,
    );
    const theirs = owners.filter(
      ({ manager, fields }) =>
        manager !== ours && changed.some(({ path }) => holdsField(fields, path)),
    );
    return [...new Set(theirs.map(({ manager }) => manager))].sort();
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    return [];
  }
}

function messageOf(
  pass: ConflictContext,
  { plan, manager: ours = fieldManagerOf(pass.context.plan.name) }: AppliedIntent,
  {
    changed,
    managers,
  }: { readonly changed: readonly Difference[]; readonly managers: readonly string[] },
): string {
  const names = changed.map(({ path }) => fieldName(path));
  const fields = fieldTexts(names, plan).toSorted().slice(0, maxFields).join(', ') || 'a field';
  const theirs = managers.length === 0 ? 'another manager' : managers.map(quoted).join(', ');
  return `"${ours}" and ${theirs} overwrite each other in ${fields}: Homeostat reverts the change with growing delays until one of them stops`;
}

const maxFields = 5;

function quoted(text: string): string {
  return `"${text}"`;
}

function problemOf({ message }: RepairBackoff, retryAfterMs: number): Problem {
  return {
    reason: 'Contested',
    message,
    code: 'contested',
    kind: 'permanent',
    retryAfterMs,
    isPartial: true,
  };
}
