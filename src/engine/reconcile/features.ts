import { createDeleteAfter } from './expiry/delete-after.ts';
import { createHistory, createHistoryReader } from './history/history-feature.ts';
import type { RevisionHistory } from './history/revision-history.ts';
import { SharedHistory } from './history/shared-history.ts';
import { createStoredVersions } from './history/stored-versions.ts';
import { DefinitionMembers } from './members/definition-members.ts';
import type { OperatorOptions } from './operator.ts';
import { type Feature, Features } from './pass/feature.ts';
import type { DefinitionClusters } from './pass/other-clusters.ts';
import { createPatches } from './patch/apply-patches.ts';
import { createDeletionPatches } from './patch/deletion-patches.ts';
import type { ResourceQueue } from './watch/resource-queue.ts';

interface FeatureOptions extends OperatorOptions {
  /** Are resources reconciled? Otherwise only deletions are completed. */
  readonly isActive: boolean;
  readonly queue: ResourceQueue;
  /** The key of the resource with this UID. */
  readonly keyOfUid: (uid: string) => string | undefined;
}

/** The features that the plan uses, and those of which its resources may have records. */
export function createFeatures(options: FeatureOptions): Features {
  const { plan, isActive, recordsHistory = true } = options;
  const found: Feature[] = [createStoredVersions(plan)];
  found.push(createDeletionPatches(plan));
  if (!isActive) return new Features([...found, createPatches(plan, undefined)]);
  if (plan.definition.deleteAfter !== undefined) found.push(createDeleteAfter());
  const versions = attachHistory(options);
  if (versions !== undefined && plan.history !== undefined)
    found.push(
      recordsHistory ? createHistory(versions, plan.history) : createHistoryReader(versions),
    );
  const reader = versions && {
    keeps: versions.keeps.bind(versions),
    isRecorded: versions.isRecorded.bind(versions),
  };
  found.push(createPatches(plan, recordsHistory ? versions : reader));
  return new Features(found);
}

/** Undefined: no versions are kept. */
function attachHistory(options: FeatureOptions): RevisionHistory | undefined {
  const { plan, history = new SharedHistory(), recordsHistory = true } = options;
  if (plan.history === undefined) return undefined;
  const { namespace = 'default', queue, keyOfUid } = options;
  const { keysNamespace = recordsHistory ? namespace : options.namespace } = options;
  const { cluster, clock, random, logger, metrics } = options;
  return history.attach(
    {
      definition: plan.name,
      kind: plan.definition.kind.gvk,
      ...{ cluster, clock, random, logger, metrics },
      clusterNamespace: namespace,
      keysNamespace,
      isReadOnly: !recordsHistory,
    },
    {
      plan,
      history: plan.history,
      keyOfUid,
      enqueue: (key) => queue.enqueue(key, 'normal', 'history'),
      enqueueAll: () => queue.enqueueAll(),
    },
  );
}

/** The clusters beside that of the resources. */
export function createOtherClusters(options: OperatorOptions): DefinitionClusters {
  return new DefinitionMembers(options);
}
