import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { statusManagerOf } from '../names.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { conditionTypesOf, statusKeysOf } from '../status-fields.ts';

type Status = Readonly<Record<string, unknown>>;

/** What came of the status. */
export type StatusOutcome =
  | { readonly kind: 'written'; readonly stored: StoredObject }
  | { readonly kind: 'unchanged' }
  /** Another pass follows at once: it tells what has come of both. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'failed'; readonly error: KubeError }
  /** The resource is gone or was replaced: there is nothing to report on. */
  | { readonly kind: 'gone' };

/** Writes the status, in one request, and only if a field that we write differs from the cached one. */
export async function writeStatus(pass: Pass, status: Status): Promise<StatusOutcome> {
  if (!isNews(pass, status)) return { kind: 'unchanged' };
  // People wait for the world, not for the report: children of other resources come first.
  await pass.giveWay();
  return sendStatus(pass, status);
}

/** A resource that is woken again and again is reported on all the same. */
const overtakenAtMost = 3;

/** Like {@link writeStatus}, but leaves the status to the next pass where that follows at once: it would be written twice. */
export async function writeLastStatus(pass: Pass, status: Status): Promise<StatusOutcome> {
  const { context } = pass;
  const attempts = pass.state.attempts.status;
  if (!isNews(pass, status)) {
    attempts.overtaken = 0;
    return { kind: 'unchanged' };
  }
  const isOvertaken = (await pass.giveWay()) === 'overtaken';
  // An author who tells of changes (`$previous`, Events) is to see each of them; what was put on record and not made must not stay there.
  const mayWait =
    context.plan.reporting === undefined &&
    attempts.overtaken < overtakenAtMost &&
    pass.found.inventory.written.size === 0;
  if (isOvertaken && mayWait) {
    attempts.overtaken += 1;
    return { kind: 'overtaken' };
  }
  attempts.overtaken = 0;
  return sendStatus(pass, status);
}

/** Sends a status whatever is known of it. */
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
        fieldManager: statusManagerOf(context.plan.name),
        force: true,
        subresource: 'status',
      },
      signal,
    );
    // What the server, or another writer, makes of our status would differ again after every further write.
    const left = differingFields(pass, status, stored.object);
    pass.state.attempts.status.made = left.length === 0 ? undefined : digestOf(left);
    return { kind: 'written', stored };
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    if (error.code === 'not-found' || error.code === 'uid-mismatch') return { kind: 'gone' };
    return { kind: 'failed', error };
  }
}

function isNews(pass: Pass, status: Status): boolean {
  const differing = differingFields(pass, status, pass.resource);
  // What was put on record ahead may not have been made.
  if (differing.length === 0) return pass.found.inventory.written.size > 0;
  const { made } = pass.state.attempts.status;
  return made === undefined || made !== digestOf(differing);
}

/** The fields that we write and that a live status has otherwise: name, ours, theirs. */
function differingFields({ context }: Given, want: Status, live: KubeObject): readonly unknown[] {
  const have: Status = isJsonObject(live.status) ? live.status : {};
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

/** Nulls aside, which a server drops where the schema does not keep them. */
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
