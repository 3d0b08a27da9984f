import type { ChildPlan } from '../../compile/index.ts';
import { type Cluster, KubeError, type PassToken, type StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { appliedAnnotation, fieldManagerOf } from '../../util/stored-names.ts';
import type { Problem } from '../failure.ts';
import { differences } from '../intent/compare.ts';
import { type Difference, fieldName } from '../intent/difference.ts';
import { holdsField, valueAtSteps } from '../intent/field-steps.ts';
import { type Intent, isSameIntent } from '../intent/intent.ts';
import { type Disclosure, fieldTexts } from '../secrecy.ts';
import type { AttemptContext, RepairBackoff, RepairedField, Repairs } from './attempt-history.ts';

/** What is applied and compared: a child, or the fields of a patch. */
export interface AppliedIntent {
  readonly intent: Intent;
  readonly plan: Disclosure & Pick<ChildPlan, 'type'>;
  /** Our field manager. @default that of the definition's children */
  readonly manager?: string;
}

/** The parts of a pass needed to look up field managers. */
export interface ConflictContext extends AttemptContext {
  readonly context: AttemptContext['context'] & {
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
  const repairs = pass.state.attempts.of(desired.intent)?.repairs;
  if (repairs === undefined) return undefined;
  const changed = changedAgain(repairs, desired, live);
  if (changed.length === 0) return undefined;
  const nowMs = pass.context.clock.monotonicMs();
  const { backoff } = repairs;
  if (backoff === undefined) return beginBackoff(pass, desired, { repairs, changed, nowMs });
  const { intent } = desired;
  if (!isSameIntent(backoff.intent, intent)) {
    setRepairs(pass, desired, { ...repairs, backoff: { ...backoff, intent } });
    return undefined;
  }
  if (nowMs < backoff.untilMs) return problemOf(backoff, nowMs);
  // Revert once more; if the field changes again, the backoff is longer.
  const lengthMs = Math.min(backoff.lengthMs * 2, maxBackoffMs);
  setRepairs(pass, desired, {
    ...repairs,
    backoff: { ...backoff, lengthMs, untilMs: nowMs + lengthMs },
  });
  return undefined;
}

/** The conflict to report for an object that is as desired: it ends only when no manager changes the field for a whole backoff. */
export function ongoingConflict(pass: AttemptContext, desired: AppliedIntent): Problem | undefined {
  const { intent } = desired;
  const repairs = pass.state.attempts.of(intent)?.repairs;
  if (repairs?.backoff === undefined) return undefined;
  const nowMs = pass.context.clock.monotonicMs();
  const isSameField = [...repairs.fields.values()].some(
    ({ steps, want }) => digestOf(valueAtSteps(intent.manifest, steps)) === want,
  );
  if (isSameField && nowMs < repairs.backoff.untilMs) return problemOf(repairs.backoff, nowMs);
  pass.state.attempts.update(intent, { repairs: undefined });
  return undefined;
}

/** Stores a revert of an object. `found`: the differences made by other managers or a new intent. */
export function recordRepair(
  pass: AttemptContext,
  desired: AppliedIntent,
  found: readonly Difference[],
): void {
  const atMs = pass.context.clock.monotonicMs();
  const fields = new Map(
    orAppliedAnnotation(found).map((each) => [fieldName(each.path), repairedField(each)]),
  );
  const before = pass.state.attempts.of(desired.intent)?.repairs;
  const repeated = new Map(
    [...fields].filter(([name, { want }]) => before?.fields.get(name)?.want === want),
  );
  if (before === undefined || repeated.size === 0) {
    setRepairs(pass, desired, { fields, count: 1, atMs });
  } else if (before.backoff !== undefined) {
    setRepairs(pass, desired, { ...before, atMs });
  } else {
    const isConsecutive = atMs - before.atMs <= maxRepairGapMs;
    setRepairs(pass, desired, {
      fields: repeated,
      count: isConsecutive ? before.count + 1 : 1,
      atMs,
    });
  }
}

function setRepairs({ state }: AttemptContext, { intent }: AppliedIntent, repairs: Repairs): void {
  state.attempts.update(intent, { repairs });
}

interface Drift {
  readonly repairs: Repairs;
  readonly changed: readonly Difference[];
  readonly nowMs: number;
}

async function beginBackoff(
  pass: ConflictContext,
  desired: AppliedIntent,
  { repairs, changed, nowMs }: Drift,
): Promise<Problem | undefined> {
  if (repairs.count < maxRepairs || nowMs - repairs.atMs > maxRepairGapMs) return undefined;
  const message = messageOf(pass, desired, {
    changed,
    managers: await managersOf(pass, desired, changed),
  });
  const lengthMs = minBackoffMs;
  const backoff = { message, intent: desired.intent, lengthMs, untilMs: nowMs + lengthMs };
  setRepairs(pass, desired, { ...repairs, backoff });
  return problemOf(backoff, nowMs);
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

function problemOf({ message, untilMs }: RepairBackoff, nowMs: number): Problem {
  return {
    reason: 'Contested',
    message,
    code: 'contested',
    kind: 'permanent',
    retryAfterMs: Math.max(untilMs - nowMs, 0),
    isPartial: true,
  };
}
