import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { PolicyValues } from '../cel/policy-cel.ts';
import { fromCel, patchOf } from '../cel/policy-results.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import { applyJsonPatch } from '../rest/json-patch.ts';
import type { AdmissionRequest } from '../rest/rest-context.ts';
import { DecodeError } from '../schema/go-decode.ts';
import { internalError } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';
import {
  type CompiledPolicy,
  type Expression,
  evaluate,
  evaluateConditions,
} from './compile-policy.ts';

/** A policy that selects a request, with one of its bindings. */
export interface Invocation {
  readonly policy: CompiledPolicy;
  readonly binding: string;
  readonly bindingSpec: JsonObject;
  /** The kind in the version that the policy names. */
  readonly kind: ServedKind;
}

interface MutateContext {
  readonly invocations: (request: AdmissionRequest) => readonly Invocation[];
  readonly values: (request: AdmissionRequest, invocation: Invocation) => PolicyValues;
  readonly toKind: (object: JsonObject, from: ServedKind, to: ServedKind) => JsonObject;
}

/**
 * Changes the object of a request by the policies that select it. When one of them has patched it, those with the reinvocation policy
 * `IfNeeded` run once more.
 * @throws StatusError when a policy fails whose failure policy is `Fail`
 */
export function mutateBy(
  request: AdmissionRequest,
  context: MutateContext,
): JsonObject | undefined {
  const first = runPass(request, context, () => true);
  if (!first.isPatched) return first.object;
  const again = { ...request, object: first.object };
  return runPass(again, context, (key) => first.reinvocable.has(key)).object;
}

interface Pass {
  readonly object: JsonObject | undefined;
  readonly isPatched: boolean;
  readonly reinvocable: ReadonlySet<string>;
}

function runPass(
  request: AdmissionRequest,
  context: MutateContext,
  isSelected: (key: string) => boolean,
): Pass {
  const reinvocable = new Set<string>();
  const errors: string[] = [];
  let current = request;
  let isPatched = false;
  for (const invocation of context.invocations(request)) {
    const { policy, binding } = invocation;
    const failed = (message: string) => {
      if (policy.failsOnError)
        errors.push(`policy '${policy.name}' with binding '${binding}' denied request: ${message}`);
    };
    const values = context.values(current, invocation);
    const condition = evaluateConditions(policy.conditions, { ...values, namespaceObject: null });
    if (condition.kind === 'error') failed(condition.message);
    if (condition.kind !== 'value' || condition.value !== true) continue;
    const key = `${policy.name} ${binding}`;
    if (!isSelected(key)) continue;
    for (const mutation of policy.mutations) {
      const patched = patchBy(mutation, current, invocation, context);
      if (patched.kind === 'failed') failed(patched.message);
      if (patched.kind !== 'patched') continue;
      current = { ...current, object: patched.object };
      isPatched = true;
    }
    if (policy.isReinvocable) reinvocable.add(key);
  }
  if (errors.length > 0) throw deniedByPolicy(request, errors);
  return { object: current.object, isPatched, reinvocable };
}

type Patched =
  | { readonly kind: 'patched'; readonly object: JsonObject }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'unknown' };

function patchBy(
  mutation: Expression,
  request: AdmissionRequest,
  invocation: Invocation,
  context: MutateContext,
): Patched {
  const { object, target } = request;
  const outcome = evaluate(mutation, context.values(request, invocation));
  if (outcome.kind === 'unknown' || object === undefined) return { kind: 'unknown' };
  if (outcome.kind === 'error') return { kind: 'failed', message: outcome.message };
  const seen = context.toKind(object, target.kind, invocation.kind);
  try {
    const operations = patchOf(outcome.value);
    const patched = applyJsonPatch(seen, operations.map(operationOf));
    const decoded = decodePatched(patched, request, invocation.kind);
    return { kind: 'patched', object: context.toKind(decoded, invocation.kind, target.kind) };
  } catch (error) {
    if (!(error instanceof StatusError) || error.status === 500) throw error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    // A test that fails changes nothing.
    if (why.endsWith('test failed')) return { kind: 'patched', object };
    return { kind: 'failed', message: `JSON Patch: ${why}` };
  }
}

function operationOf(fields: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fromCel(value)]));
}

/** @throws StatusError 500 for an object that does not fit its kind, as the server does */
function decodePatched(patched: Json, { target }: AdmissionRequest, kind: ServedKind): JsonObject {
  if (!isJsonObject(patched)) throw internalError('json: cannot unmarshal into an object');
  if (target.subresource === 'scale') return patched;
  try {
    const { object, unknownFields } = kind.decode(patched);
    if (unknownFields.length === 0 || kind.isCustom) return object;
    const fields = unknownFields.map((field) => `unknown field "${field}"`);
    throw internalError(`strict decoding error: ${fields.join(', ')}`);
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

function deniedByPolicy(request: AdmissionRequest, errors: readonly string[]): StatusError {
  const [message = ''] = errors;
  return new StatusError({
    code: 403,
    reason: 'Invalid',
    message,
    details: {
      ...resourceOfError(request).details,
      causes: errors.map((each) => ({ message: each })),
    },
  });
}

/** The object of an error of admission. */
export function resourceOfError({ target, object }: AdmissionRequest) {
  const { group, plural } = target.kind.names;
  const metadata = objectField(object ?? {}, 'metadata') ?? {};
  const name =
    target.name ||
    (stringField(metadata, 'name') ?? '') ||
    (stringField(metadata, 'generateName') ?? '') ||
    'Unknown';
  return {
    name,
    resource: group === '' ? plural : `${plural}.${group}`,
    details: { name, ...(group === '' ? {} : { group }), kind: plural },
  };
}
