import type { KubeError, StoredObject } from '#kube/roles.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { statusManagerOf } from '#util/stored-names.ts';
import { remainingMs } from '../ledger/ledger.ts';
import { type Pass, type PassInput, requestError } from '../pass/pass.ts';
import { differsInPlacesOnly } from '../places.ts';
import {
  conditionTypesOf,
  standardConditionTypes,
  statusKeysOf,
  statusOf,
} from '../status-fields.ts';

type Status = Readonly<Record<string, unknown>>;

/** The result of a status write. */
export type StatusOutcome =
  | { readonly kind: 'written'; readonly stored: StoredObject }
  | { readonly kind: 'unchanged' }
  /** Another pass follows at once and reports for both. */
  | { readonly kind: 'superseded' }
  /** Another cluster is connecting: what follows reports. */
  | { readonly kind: 'deferred' }
  | { readonly kind: 'failed'; readonly error: KubeError }
  /** The resource was deleted or replaced. */
  | { readonly kind: 'deleted' };

/** Writes the status in one request, and only if one of our fields differs from the cached one. */
export async function writeStatus(pass: Pass, status: Status): Promise<StatusOutcome> {
  // It reports what was left out.
  pass.state.ledger.delete('deferred');
  if (!isChanged(pass, status)) return { kind: 'unchanged' };
  // Children of other resources have priority over the status.
  await pass.yieldWorker();
  return sendStatus(pass, status);
}

/** Maximum number of consecutive skipped reports of a resource that is enqueued repeatedly. */
const maxSuperseded = 3;

/** Like {@link writeStatus}, but skips the status if another pass follows at once, which would write it again. */
export async function writeStatusUnlessSuperseded(
  pass: Pass,
  status: Status,
): Promise<StatusOutcome> {
  const { context, state } = pass;
  if (!isChanged(pass, status)) {
    state.supersededReports = 0;
    state.ledger.delete('deferred');
    return { kind: 'unchanged' };
  }
  if (isDeferred(pass)) return { kind: 'deferred' };
  const isSuperseded = (await pass.yieldWorker()) === 'superseded';
  // Expressions that report changes (`$previous`, Events) must see each of them. Recorded objects that were not created must be removed.
  const mayWait =
    context.plan.reporting === undefined &&
    state.supersededReports < maxSuperseded &&
    pass.findings.inventory.written.size === 0;
  if (isSuperseded && mayWait) {
    state.supersededReports += 1;
    return { kind: 'superseded' };
  }
  state.supersededReports = 0;
  return sendStatus(pass, status);
}

/** A member that does not connect is reported as unreachable after 15 s. */
const maxDeferredMs = 20_000;

/**
 * Is a report left out that would only say that a member cluster is connecting? Otherwise every restart and every new connection would
 * write the status of all resources twice.
 */
function isDeferred(pass: Pass): boolean {
  const { context, others, resource, state, findings } = pass;
  const deferred = state.ledger.get('deferred');
  const isNews = !conditionsOf(resource).some(
    ({ type, observedGeneration }) =>
      type === 'Ready' && observedGeneration === resource.metadata.generation,
  );
  const isDue = deferred !== undefined && remainingMs(pass, deferred) === 0;
  if (others?.isExpected !== true || isNews || isDue || findings.inventory.written.size > 0) {
    state.ledger.delete('deferred');
    return false;
  }
  if (deferred === undefined)
    state.ledger.set('deferred', { untilMs: context.clock.monotonicMs() + maxDeferredMs });
  return true;
}

/** Sends a status without comparing it. */
export async function sendStatus(pass: Pass, status: Status): Promise<StatusOutcome> {
  const { context, resource, uid, token, signal } = pass;
  const { apiVersion, kind, metadata } = resource;
  const { name, namespace } = metadata;
  const manifest: KubeObject = {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid },
    status,
  };
  try {
    const { stored } = await context.cluster.apply(
      manifest,
      {
        flow: { name: context.plan.name, priority: 'status' },
        pass: token,
        cluster: undefined,
        fieldManager: statusManagerOf(context.plan.name),
        force: true,
        subresource: 'status',
      },
      signal,
    );
    // A field that the server or another writer changes would differ again after every write.
    const remaining = differingFields(pass, status, stored.object);
    pass.state.responses.statusDefaults = remaining.length === 0 ? undefined : digestOf(remaining);
    return { kind: 'written', stored };
  } catch (thrown) {
    const error = requestError(thrown, pass);
    if (error.code === 'not-found' || error.code === 'uid-mismatch') return { kind: 'deleted' };
    return { kind: 'failed', error };
  }
}

function isChanged(pass: Pass, status: Status): boolean {
  const differing = differingFields(pass, withLivePlaces(pass, status), pass.resource);
  // Objects that were recorded in advance may not have been created.
  if (differing.length === 0) return pass.findings.inventory.written.size > 0;
  const { statusDefaults } = pass.state.responses;
  return statusDefaults === undefined || statusDefaults !== digestOf(differing);
}

/** The status with the messages of the live one that differ from it only in the place that they name: a moved line is not worth a write. */
function withLivePlaces({ context, resource }: PassInput, status: Status): Status {
  const { file } = context.plan;
  const keep = (want: unknown, have: unknown): unknown => {
    if (!isJsonObject(want) || !isJsonObject(have) || want.message === have.message) return want;
    return differsInPlacesOnly(String(want.message), String(have.message), file)
      ? { ...want, message: have.message }
      : want;
  };
  const { children, conditions } = status;
  const { children: liveChildren } = statusOf(resource);
  return {
    ...status,
    ...(Array.isArray(children) &&
      Array.isArray(liveChildren) && {
        children: children.map((child, index) => keep(child, liveChildren[index])),
      }),
    ...(Array.isArray(conditions) && {
      conditions: conditions.map((condition) =>
        standardConditionTypes.has(condition.type)
          ? keep(
              condition,
              conditionsOf(resource).find(({ type }) => type === condition.type),
            )
          : condition,
      ),
    }),
  };
}

/** Our status fields that differ from the live status: name, ours, theirs. */
function differingFields(
  { context }: PassInput,
  want: Status,
  live: KubeObject,
): readonly unknown[] {
  const have = statusOf(live);
  const types = conditionTypesOf(context.plan);
  const differing = statusKeysOf(context.plan)
    .filter((key) => !isSame(want[key], have[key]))
    .map((key): unknown => [key, want[key] ?? null, have[key] ?? null]);
  const conditions = conditionsOf(live).filter(({ type }) => types.has(type));
  if (!sameConditions(want.conditions, conditions)) {
    differing.push(['conditions', want.conditions ?? null, conditions]);
  }
  return differing;
}

function digestOf(differing: readonly unknown[]): string {
  return sha256Hex(canonicalJson(differing));
}

function sameConditions(want: unknown, have: readonly Status[]): boolean {
  const wanted = Array.isArray(want) ? want : [];
  return (
    wanted.length === have.length &&
    wanted.every((condition) =>
      deepEqual(
        condition,
        have.find(({ type }) => type === condition.type),
      ),
    )
  );
}

/** Equal apart from nulls, which a server drops if the schema does not keep them. */
function isSame(want: unknown, have: unknown): boolean {
  return deepEqual(want, have) || deepEqual(plain(want), plain(have));
}

function plain(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((item) => plain(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const kept = plain(field);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}
