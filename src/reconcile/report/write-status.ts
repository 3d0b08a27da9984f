import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { statusManagerOf } from '../names.ts';
import type { Pass } from '../pass/pass.ts';
import { conditionsOf } from './conditions.ts';
import { ownConditionTypes, statusKeysOf } from './status-fields.ts';

type Status = Readonly<Record<string, unknown>>;

/** What came of the status. */
export type StatusOutcome =
  | { readonly kind: 'written'; readonly stored: StoredObject }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly error: KubeError }
  /** The resource is gone or was replaced: there is nothing to report on. */
  | { readonly kind: 'gone' };

/** Writes the status, in one request, and only if a field that we write differs from the cached one. */
export async function writeStatus(pass: Pass, status: Status): Promise<StatusOutcome> {
  const difference = statusDifference(pass, status, pass.resource);
  if (difference === '' || difference === pass.state.statusMade) return { kind: 'unchanged' };
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
    const left = statusDifference(pass, status, stored.object);
    pass.state.statusMade = left === '' ? undefined : left;
    return { kind: 'written', stored };
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    if (error.code === 'not-found' || error.code === 'uid-mismatch') return { kind: 'gone' };
    return { kind: 'failed', error };
  }
}

/** Empty when a live status says what ours says, in the fields that we write; else a digest of what differs. */
function statusDifference({ context }: Pass, want: Status, live: KubeObject): string {
  const have: Status = isJsonObject(live.status) ? live.status : {};
  const differing = statusKeysOf(context.plan)
    .filter((key) => !deepEqual(plain(want[key]), plain(have[key])))
    .map((key) => [key, want[key] ?? null, have[key] ?? null]);
  const conditions = conditionsOf(live).filter(({ type }) => ownConditionTypes.has(type));
  if (!sameConditions(want.conditions, conditions)) {
    differing.push(['conditions', want.conditions ?? null, conditions]);
  }
  return differing.length === 0 ? '' : sha256Hex(canonicalJson(differing));
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

/** Without nulls, which a server drops where the schema does not keep them. */
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
