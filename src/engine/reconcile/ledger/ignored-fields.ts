import type { ChildPlan } from '#compile';
import type { KubeError, StatusCause, StoredObject } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { fieldName, valueAtSteps, withoutField } from '#util/field-path.ts';
import type { Problem } from '../failure.ts';
import { stepsOf } from '../intent/field-steps.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { type Disclosure, fieldText } from '../secrecy.ts';
import type { IgnoredField } from './entries.ts';
import { type LedgerContext, permanentMsOf, remainingMs } from './ledger.ts';

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
  pass: LedgerContext,
  desired: Element,
  live: StoredObject | undefined,
): WithoutIgnored<Element> {
  const { ledger } = pass.state;
  const { identity } = desired.intent;
  const known = ledger.get('ignored', identity);
  if (known === undefined) return { desired };
  const retryAfterMs = remainingMs(pass, known);
  const fields =
    live === undefined || retryAfterMs === 0
      ? []
      : known.fields.filter((field) => isUnchanged(field, desired.intent, live));
  const forced = known.forcesNext ? { ...desired, force: true } : desired;
  if (fields.length === 0) {
    ledger.delete('ignored', identity);
    return { desired: forced };
  }
  ledger.set('ignored', { ...known, fields, forcesNext: false }, identity);
  const intent = withoutFields(desired, fields);
  return { desired: { ...forced, intent }, problem: problemOf(desired, fields, retryAfterMs) };
}

/** Leaves the fields of a conflict to their managers. @returns false if no field can be left */
export function ignoreConflict(
  pass: LedgerContext,
  { plan, intent }: AppliedElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject | undefined },
): boolean {
  if (plan.conflicts !== 'Report' || error.code !== 'field-conflict' || live === undefined) {
    return false;
  }
  const { ledger } = pass.state;
  const known = ledger.get('ignored', intent.identity)?.fields ?? [];
  const others = error.causes.filter(({ field }) => !bookkeeping.test(field ?? ''));
  const fields = others.flatMap((cause) => ignoredField(cause, intent, live));
  // A forced apply takes every field that is sent: not before all conflicting fields are left out.
  const forcesNext = others.length < error.causes.length && fields.length === others.length;
  if (fields.length === 0 && !forcesNext) return false;
  const untilMs = pass.context.clock.monotonicMs() + permanentMsOf(pass);
  ledger.set('ignored', { fields: [...known, ...fields], untilMs, forcesNext }, intent.identity);
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
