import type { ChildPlan } from '../../compile/index.ts';
import type { KubeError, StatusCause, StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { Problem } from '../failure.ts';
import { fieldName } from '../intent/difference.ts';
import { stepsOf, valueAtSteps, withoutField } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { type Confidence, fieldText } from '../secrecy.ts';
import type { Attempting, IgnoredField, IgnoredFields } from './attempt-ledger.ts';

/** What is applied to an object of a child. */
export interface AppliedElement {
  readonly plan: Confidence & Pick<ChildPlan, 'type' | 'conflicts'>;
  readonly intent: Intent;
  /** Are fields taken from other managers? @default true, unless the child says `conflicts: Report` */
  readonly force?: boolean;
}

/** An element without the fields that are left to others, and what is reported of these. */
export interface WithoutIgnored<Element> {
  readonly wanted: Element;
  readonly problem?: Problem;
}

/**
 * Leaves fields out that another manager has. They are applied again when their value or ours changes, and every `retry.permanent`:
 * that a manager has given a field up shows in nothing that is watched.
 */
export function withoutIgnored<Element extends AppliedElement>(
  pass: Attempting,
  wanted: Element,
  live: StoredObject | undefined,
): WithoutIgnored<Element> {
  const { attempts } = pass.state;
  const known = attempts.of(wanted.intent)?.ignored;
  if (known === undefined) return { wanted };
  const againAfterMs = remainingMs(pass, known);
  const fields =
    live === undefined || againAfterMs <= 0
      ? []
      : known.fields.filter((field) => isStillTheirs(field, wanted.intent, live));
  const forced = known.takesBack ? { ...wanted, force: true } : wanted;
  if (fields.length === 0) {
    attempts.note(wanted.intent, { ignored: undefined });
    return { wanted: forced };
  }
  attempts.note(wanted.intent, { ignored: { ...known, fields, takesBack: false } });
  const intent = withoutFields(wanted, fields);
  return { wanted: { ...forced, intent }, problem: problemOf(wanted, fields, againAfterMs) };
}

/** Leaves the fields of a conflict to the managers that have them. False: there is nothing to leave. */
export function ignoreConflict(
  { context, state }: Attempting,
  { plan, intent }: AppliedElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject | undefined },
): boolean {
  if (plan.conflicts !== 'Report' || error.code !== 'field-conflict' || live === undefined) {
    return false;
  }
  const known = state.attempts.of(intent)?.ignored?.fields ?? [];
  const others = error.causes.filter(({ field }) => !bookkeeping.test(field ?? ''));
  const fields = others.flatMap((cause) => ignoredField(cause, intent, live));
  // Force takes everything that is sent: not while a field of the conflict is not known, and so not left out.
  const takesBack = others.length < error.causes.length && fields.length === others.length;
  if (fields.length === 0 && !takesBack) return false;
  const atMs = context.clock.monotonicMs();
  state.attempts.note(intent, { ignored: { fields: [...known, ...fields], atMs, takesBack } });
  return true;
}

/** What says that an object is ours. */
const bookkeeping =
  /^\.metadata\.(?:ownerReferences\b|(?:labels|annotations)\.(?:homeostat\.dev\/|app\.kubernetes\.io\/managed-by$))/;

function ignoredField(
  { field, manager }: StatusCause,
  intent: Intent,
  live: StoredObject,
): readonly IgnoredField[] {
  if (field === undefined) return [];
  const steps = stepsOf(field, intent.manifest);
  if (steps === undefined || steps.length === 0) return [];
  return [
    {
      steps,
      manager: manager ?? '',
      want: valueAtSteps(intent.manifest, steps),
      have: valueAtSteps(live.object, steps),
    },
  ];
}

function remainingMs({ context }: Attempting, { atMs }: IgnoredFields): number {
  const { permanentMs } = context.plan.definition.controller.retry;
  return atMs + permanentMs - context.clock.monotonicMs();
}

function isStillTheirs(
  { steps, want, have }: IgnoredField,
  { manifest }: Intent,
  { object }: StoredObject,
): boolean {
  return (
    deepEqual(valueAtSteps(manifest, steps), want) && deepEqual(valueAtSteps(object, steps), have)
  );
}

function withoutFields({ plan, intent }: AppliedElement, fields: readonly IgnoredField[]): Intent {
  let { manifest } = intent;
  for (const { steps } of fields) manifest = withoutField(manifest, steps);
  const whole = intent.whole ?? intent.manifest;
  return { ...intent, manifest, whole, pathHash: pathHash(manifest, plan.type) };
}

function problemOf(
  { plan }: AppliedElement,
  fields: readonly IgnoredField[],
  againAfterMs: number,
): Problem {
  const told = fields.map(({ steps, manager }) => {
    const name = fieldText(fieldName(steps), plan) || 'A field';
    return `${name} is left to "${manager}"`;
  });
  return {
    reason: 'Conflict',
    message: [...new Set(told)].sort().join('; '),
    code: 'field-conflict',
    kind: 'permanent',
    owner: [...new Set(fields.map(({ manager }) => manager))].sort().join(', '),
    againAfterMs,
    isPartial: true,
  };
}
