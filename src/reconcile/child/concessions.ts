import type { KubeError, StatusCause, StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { Problem } from '../failure.ts';
import { fieldName } from '../intent/field-names.ts';
import { type FieldSteps, stepsOf, valueAtSteps, withoutField } from '../intent/field-steps.ts';
import { pathHash } from '../intent/path-hash.ts';
import type { Pass } from '../pass/pass.ts';
import { fieldText } from '../secrecy.ts';
import type { Intent } from './build-intent.ts';
import type { WantedElement } from './element-result.ts';

/** Fields of one object that are left to the managers that took them (`conflicts: Report`). */
export interface Concession {
  readonly fields: readonly ConcededField[];
  /** When the server last said so. Monotonic. */
  readonly atMs: number;
  /** Somebody took our bookkeeping too, which is never left to anybody: the next apply, without the fields above, is forced. */
  readonly takesBack: boolean;
}

interface ConcededField {
  readonly steps: FieldSteps;
  readonly manager: string;
  /** What we would have, and what was there instead. */
  readonly want: unknown;
  readonly have: unknown;
}

/** An element without what is left to others, and what is told of that. */
export interface Conceding {
  readonly wanted: WantedElement;
  readonly problem?: Problem;
}

/**
 * Leaves fields out that another manager has. They are asked for again when their value or ours changes, and every `retry.permanent`:
 * that a manager has given a field up shows in nothing that is watched.
 */
export function conceding(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject | undefined,
): Conceding {
  const { state } = pass;
  const { identity } = wanted.intent;
  const known = state.concessions.get(identity);
  if (known === undefined) return { wanted };
  const againAfterMs = remainingMs(pass, known);
  const fields =
    live === undefined || againAfterMs <= 0
      ? []
      : known.fields.filter((field) => isStillTheirs(field, wanted.intent, live));
  const forced = known.takesBack ? { ...wanted, force: true } : wanted;
  if (fields.length === 0) {
    state.concessions.delete(identity);
    return { wanted: forced };
  }
  state.concessions.set(identity, { ...known, fields, takesBack: false });
  const intent = withoutFields(wanted, fields);
  return { wanted: { ...forced, intent }, problem: problemOf(wanted, fields, againAfterMs) };
}

/** Leaves the fields of a conflict to those who have them. False: there is nothing to leave, or fields are taken back. */
export function concede(
  pass: Pass,
  { plan, intent }: WantedElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject | undefined },
): boolean {
  if (plan.conflicts !== 'Report' || error.code !== 'field-conflict' || live === undefined) {
    return false;
  }
  const known = pass.state.concessions.get(intent.identity)?.fields ?? [];
  const others = error.causes.filter(({ field }) => !bookkeeping.test(field ?? ''));
  const fields = others.flatMap((cause) => concededField(cause, intent, live));
  // Force takes everything that is sent: not while a field of the conflict is not known, and so not left out.
  const takesBack = others.length < error.causes.length && fields.length === others.length;
  if (fields.length === 0 && !takesBack) return false;
  const atMs = pass.context.clock.monotonicMs();
  pass.state.concessions.set(intent.identity, { fields: [...known, ...fields], atMs, takesBack });
  return true;
}

/** What says that an object is ours. */
const bookkeeping =
  /^\.metadata\.(?:ownerReferences\b|(?:labels|annotations)\.(?:homeostat\.dev\/|app\.kubernetes\.io\/managed-by$))/;

function concededField(
  { field, manager }: StatusCause,
  intent: Intent,
  live: StoredObject,
): readonly ConcededField[] {
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

function remainingMs({ context }: Pass, { atMs }: Concession): number {
  const { permanentMs } = context.plan.definition.controller.retry;
  return atMs + permanentMs - context.clock.monotonicMs();
}

function isStillTheirs(
  { steps, want, have }: ConcededField,
  { manifest }: Intent,
  { object }: StoredObject,
): boolean {
  return (
    deepEqual(valueAtSteps(manifest, steps), want) && deepEqual(valueAtSteps(object, steps), have)
  );
}

function withoutFields({ plan, intent }: WantedElement, fields: readonly ConcededField[]): Intent {
  let { manifest } = intent;
  for (const { steps } of fields) manifest = withoutField(manifest, steps);
  const whole = intent.whole ?? intent.manifest;
  return { ...intent, manifest, whole, pathHash: pathHash(manifest, plan.type) };
}

function problemOf(
  { plan }: WantedElement,
  fields: readonly ConcededField[],
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
