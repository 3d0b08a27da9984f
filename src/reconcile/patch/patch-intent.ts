import type { PatchPlan, RenderedPatch } from '../../compile/index.ts';
import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { KubeObject, ObjectMeta } from '../../util/kube-object.ts';
import { identityOf, topicOfRef } from '../identity.ts';
import { covers, differenceDigest, differences } from '../intent/covers.ts';
import type { Difference } from '../intent/difference.ts';
import type { Intent } from '../intent/intent.ts';
import { pathHash } from '../intent/path-hash.ts';
import { prepare } from '../intent/prepare.ts';
import type { Given, Pass } from '../pass/pass.ts';

export interface IntentOptions {
  readonly plan: PatchPlan;
  readonly ref: ObjectRef;
  readonly fields: RenderedPatch['fields'];
}

/** What a patch is to make of its target. Remembered apart from what a child of that name is to be. */
export function patchIntent(pass: Pass, { plan, ref, fields }: IntentOptions): Intent {
  const { gvk, namespace, name } = ref;
  const hasStatus = pass.context.cluster.resourceFor(gvk)?.hasStatus ?? true;
  const written: KubeObject = {
    ...fields,
    apiVersion: apiVersionOf(gvk),
    kind: gvk.kind,
    metadata: {
      ...(fields.metadata as ObjectMeta | undefined),
      name,
      ...(namespace === undefined ? {} : { namespace }),
    },
  };
  const manifest = prepare(written, plan.type, { hasStatus });
  return {
    ref,
    topic: `patch ${plan.id} ${topicOfRef(ref)}`,
    identity: `patch ${plan.id} ${identityOf(gvk, namespace, name)}`,
    manifest,
    pathHash: pathHash(manifest, plan.type),
  };
}

/** What the target has otherwise; undefined: nothing that a further apply would change. */
export function differingFields(
  { state }: Given,
  { type }: PatchPlan,
  { intent, live }: { readonly intent: Intent; readonly live: StoredObject },
): readonly Difference[] | undefined {
  if (covers(intent.manifest, live.object, type)) return undefined;
  const found = differences(intent.manifest, live.object, type);
  return state.attempts.serverMade.get(intent.topic) === fingerprint(intent, found)
    ? undefined
    : found;
}

/** Remembers what the server made of a patch. */
export function rememberAnswer(
  { state }: Given,
  { type }: PatchPlan,
  { intent, live }: { readonly intent: Intent; readonly live: StoredObject },
): void {
  const found = differences(intent.manifest, live.object, type);
  if (found.length === 0) state.attempts.serverMade.delete(intent.topic);
  else state.attempts.serverMade.set(intent.topic, fingerprint(intent, found));
}

function fingerprint({ pathHash: hash }: Intent, found: readonly Difference[]): string {
  return `${hash} ${differenceDigest(found)}`;
}
