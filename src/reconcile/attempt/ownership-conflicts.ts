import type { ChildPlan } from '../../compile/index.ts';
import { type Cluster, KubeError, type PassToken, type StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { Problem } from '../failure.ts';
import { differences } from '../intent/covers.ts';
import { type Difference, fieldName } from '../intent/difference.ts';
import { holdsField, valueAtSteps } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import { appliedAnnotation, fieldManagerOf } from '../names.ts';
import { type Confidence, fieldTexts } from '../secrecy.ts';
import type { Attempting, RepairBackoff, RepairedField, Repairs } from './attempt-ledger.ts';

/** What is reverted to what is wanted: a child, or what a patch sets. */
export interface Defended {
  readonly intent: Intent;
  readonly plan: Confidence & Pick<ChildPlan, 'type'>;
  /** Ours. @default that of the definition's children */
  readonly manager?: string;
}

/** What is asked who has a field. */
export interface Contesting extends Attempting {
  readonly context: Attempting['context'] & {
    readonly plan: { readonly name: string };
    readonly cluster: Pick<Cluster, 'fieldOwners'>;
  };
  readonly token: PassToken;
  readonly signal: AbortSignal;
}

/** So often in a row a field is reverted at once. */
const repairsInARow = 5;
/** Repairs that are further apart are not of a row. */
const rowGapMs = 120_000;
const shortestBackoffMs = 10_000;
const longestBackoffMs = 300_000;

/**
 * The loop guard (engine.md section 5): has another manager changed the same field again and again, whatever we put back?
 * Then it is left as it is for a while, and both managers are named. Undefined: it may be reverted now.
 */
export async function contested(
  pass: Contesting,
  wanted: Defended,
  live: StoredObject,
): Promise<Problem | undefined> {
  const repairs = repairsOf(pass, wanted);
  if (repairs === undefined) return undefined;
  const taken = takenAgain(repairs, wanted, live);
  if (taken.length === 0) return undefined;
  const nowMs = pass.context.clock.monotonicMs();
  const { backoff } = repairs;
  if (backoff === undefined) return beginBackoff(pass, wanted, { repairs, taken, nowMs });
  const { intent } = wanted;
  if (!isSameIntent(backoff.intent, intent)) {
    keep(pass, wanted, { ...repairs, backoff: { ...backoff, intent } });
    return undefined;
  }
  if (nowMs < backoff.untilMs) return problemOf(backoff, nowMs);
  // Once more; if it is taken again, it is for longer.
  const lengthMs = Math.min(backoff.lengthMs * 2, longestBackoffMs);
  keep(pass, wanted, { ...repairs, backoff: { ...backoff, lengthMs, untilMs: nowMs + lengthMs } });
  return undefined;
}

/** What is reported of an object that is as wanted at the moment: the conflict is over only when no manager took the field for a whole backoff. */
export function stillContested(pass: Attempting, wanted: Defended): Problem | undefined {
  const repairs = repairsOf(pass, wanted);
  if (repairs?.backoff === undefined) return undefined;
  const { intent } = wanted;
  const nowMs = pass.context.clock.monotonicMs();
  const isSameMatter = [...repairs.fields.values()].some(
    ({ steps, want }) => shortened(valueAtSteps(intent.manifest, steps)) === want,
  );
  if (isSameMatter && nowMs < repairs.backoff.untilMs) return problemOf(repairs.backoff, nowMs);
  pass.state.attempts.note(intent, { repairs: undefined });
  return undefined;
}

/** Notes that an object was reverted to what is wanted. `found`: what others, or a new intent, had made different. */
export function noteRepair(pass: Attempting, wanted: Defended, found: readonly Difference[]): void {
  const atMs = pass.context.clock.monotonicMs();
  const fields = new Map(orMark(found).map((each) => [fieldName(each.path), repairedField(each)]));
  const before = repairsOf(pass, wanted);
  const both = new Map(
    [...fields].filter(([name, { want }]) => before?.fields.get(name)?.want === want),
  );
  if (before === undefined || both.size === 0) {
    keep(pass, wanted, { fields, inARow: 1, atMs });
  } else if (before.backoff !== undefined) {
    keep(pass, wanted, { ...before, atMs });
  } else {
    const isRow = atMs - before.atMs <= rowGapMs;
    keep(pass, wanted, { fields: both, inARow: isRow ? before.inARow + 1 : 1, atMs });
  }
}

function repairsOf({ state }: Attempting, { intent }: Defended): Repairs | undefined {
  return state.attempts.of(intent)?.repairs;
}

function keep({ state }: Attempting, { intent }: Defended, repairs: Repairs): void {
  state.attempts.note(intent, { repairs });
}

function isSameIntent(a: Intent, b: Intent): boolean {
  return a.pathHash === b.pathHash && deepEqual(a.manifest, b.manifest);
}

interface Drift {
  readonly repairs: Repairs;
  readonly taken: readonly Difference[];
  readonly nowMs: number;
}

async function beginBackoff(
  pass: Contesting,
  wanted: Defended,
  { repairs, taken, nowMs }: Drift,
): Promise<Problem | undefined> {
  if (repairs.inARow < repairsInARow || nowMs - repairs.atMs > rowGapMs) return undefined;
  const message = tell(pass, wanted, { taken, managers: await takers(pass, wanted, taken) });
  const lengthMs = shortestBackoffMs;
  const backoff = { message, intent: wanted.intent, lengthMs, untilMs: nowMs + lengthMs };
  keep(pass, wanted, { ...repairs, backoff });
  return problemOf(backoff, nowMs);
}

/** What is different now, was reverted before, and is to be what it was reverted to. */
function takenAgain(
  { fields }: Repairs,
  { intent, plan }: Defended,
  live: StoredObject,
): readonly Difference[] {
  return orMark(differences(intent.manifest, live.object, plan.type)).filter(
    (found) => fields.get(fieldName(found.path))?.want === repairedField(found).want,
  );
}

/** Where no value differs, it is our mark of what was applied that is not there. */
function orMark(found: readonly Difference[]): readonly Difference[] {
  const path = ['metadata', 'annotations', appliedAnnotation];
  return found.length > 0 ? found : [{ path, want: undefined, have: undefined }];
}

function repairedField({ path, want }: Difference): RepairedField {
  return { steps: path, want: shortened(want) };
}

function shortened(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return text.length <= 64 ? text : sha256Hex(text);
}

/** The managers that have the fields now, as far as the server says so. */
async function takers(
  pass: Contesting,
  { intent, manager: ours = fieldManagerOf(pass.context.plan.name) }: Defended,
  taken: readonly Difference[],
): Promise<readonly string[]> {
  try {
    const owners = await pass.context.cluster.fieldOwners(
      intent.ref,
      { flow: { name: pass.context.plan.name, priority: 'world' }, pass: pass.token },
      pass.signal,
    );
    const theirs = owners.filter(
      ({ manager, fields }) =>
        manager !== ours && taken.some(({ path }) => holdsField(fields, path)),
    );
    return [...new Set(theirs.map(({ manager }) => manager))].sort();
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    return [];
  }
}

function tell(
  pass: Contesting,
  { plan, manager: ours = fieldManagerOf(pass.context.plan.name) }: Defended,
  {
    taken,
    managers,
  }: { readonly taken: readonly Difference[]; readonly managers: readonly string[] },
): string {
  const names = taken.map(({ path }) => fieldName(path));
  const fields = fieldTexts(names, plan).toSorted().slice(0, toldAtMost).join(', ') || 'a field';
  const theirs = managers.length === 0 ? 'somebody else' : managers.map(quoted).join(', ');
  return `"${ours}" and ${theirs} write ${fields} in turn: it is put back ever more rarely`;
}

const toldAtMost = 5;

function quoted(text: string): string {
  return `"${text}"`;
}

function problemOf({ message, untilMs }: RepairBackoff, nowMs: number): Problem {
  return {
    reason: 'Contested',
    message,
    code: 'contested',
    kind: 'permanent',
    againAfterMs: Math.max(untilMs - nowMs, 0),
    isPartial: true,
  };
}
