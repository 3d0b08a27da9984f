import type { ChildPlan } from '../../compile/index.ts';
import type { KubeError, StatusCause, StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { Problem } from '../failure.ts';
import { fieldName } from '../intent/difference.ts';
import { stepsOf, valueAtSteps, withoutField } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { type Disclosure, fieldText } from '../secrecy.ts';
import type { AttemptContext, IgnoredField, IgnoredFields } from './attempt-history.ts';

/** What is applied to an object. */
interface AppliedElement {
  readonly plan: Disclosure & Pick<ChildPlan, 'type' | 'conflicts'>;
  readonly intent: Intent;
  /** Are fields of other managers overwritten? @default true, unless the child has `conflicts: Report` */
  readonly force?: boolean;
}

/** An element without the ignored fields, and the problem that reports them. */
interface WithoutIgnored<Element> {
  readonly desired: Element;
  readonly problem?: Problem;
}

/**
 * Removes the fields that other managers own. They are applied again when either value changes, and every `retry.permanent`: no watch shows
 * that a manager has released a field.
 */
export function withoutIgnored<Element extends AppliedElement>(
  pass: AttemptContext,
  desired: Element,
  live: StoredObject | undefined,
): WithoutIgnored<Element> {
  const { attempts } = pass.state;
  const known = attempts.of(desired.intent)?.ignored;
  if (known === undefined) return { desired };
  const retryAfterMs = remainingMs(pass, known);
  const fields =
    live === undefined || retryAfterMs <= 0
      ? []
      : known.fields.filter((field) => isUnchanged(field, desired.intent, live));
  const forced = known.forcesNext ? { ...desired, force: true } : desired;
  if (fields.length === 0) {
    attempts.update(desired.intent, { ignored: undefined });
    return { desired: forced };
  }
  attempts.update(desired.intent, { ignored: { ...known, fields, forcesNext: false } });
  const intent = withoutFields(desired, fields);
  return { desired: { ...forced, intent }, problem: problemOf(desired, fields, retryAfterMs) };
}

/** Leaves the fields of a conflict to their managers. @returns false if no field can be left */
export function ignoreConflict(
  { context, state }: AttemptContext,
  { plan, intent }: AppliedElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject | undefined },
): boolean {
  if (plan.conflicts !== 'Report' || error.code !== 'field-conflict' || live === undefined) {
    return false;
  }
  const known = state.attempts.of(intent)?.ignored?.fields ?? [];
  const others = error.causes.filter(({ field }) => !bookkeeping.test(field ?? ''));
  const fields = others.flatMap((cause) => ignoredField(cause, intent, live));
  // A forced apply takes every field that is sent: not before all conflicting fields are left out.
  const forcesNext = others.length < error.causes.length && fields.length === others.length;
  if (fields.length === 0 && !forcesNext) return false;
  const atMs = context.clock.monotonicMs();
  state.attempts.update(intent, { ignored: { fields: [...known, ...fields], atMs, forcesNext } });
  return true;
}

/** Metadata that marks an object as ours. */
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

function remainingMs({ context }: AttemptContext, { atMs }: IgnoredFields): number {
  const { permanentMs } = context.plan.definition.controller.retry;
  return atMs + permanentMs - context.clock.monotonicMs();
}

function isUnchanged(
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
  const fullManifest = intent.fullManifest ?? intent.manifest;
  return { ...intent, manifest, fullManifest, pathHash: pathHash(manifest, plan.type) };
}

function problemOf(
  { plan }: AppliedElement,
  fields: readonly IgnoredField[],
  retryAfterMs: number,
): Problem {
  const messages = fields.map(({ steps, manager }) => {
    const name = fieldText(fieldName(steps), plan) || 'A field';
    return `${name} is left to field manager "${manager}"`;
  });
  return {
    reason: 'Conflict',
    message: [...new Set(messages)].sort().join('; '),
    code: 'field-conflict',
    kind: 'permanent',
    owner: [...new Set(fields.map(({ manager }) => manager))].sort().join(', '),
    retryAfterMs,
    isPartial: true,
  };
}
