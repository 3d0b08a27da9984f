import { statusManagerOf } from '#reconcile';
import type { Logger } from '#telemetry/roles.ts';
import { withFieldVersion } from '#util/field-versions.ts';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { storedVersionsOf } from './check-change.ts';
import {
  acquireCrd,
  type CrdContext,
  crdFlowOf,
  isTerminating,
  ownershipConflict,
} from './crd-definition.ts';
import { editResources } from './edit-resources.ts';
import { versionNames } from './rename-field-versions.ts';
import type { MigrationView } from './version-view.ts';
import { withSynced } from './wait-for-crd.ts';

/** Other API servers still write the old storage version for a short time. */
const propagationMs = 5_000;

export interface MigrationOptions {
  readonly logger: Logger;
  /** Called with what is done. Undefined: all resources are stored in the storage version. @default nothing */
  readonly onMigration?: (migration: MigrationView | undefined) => void;
}

/**
 * Rewrites every resource unchanged if some may be stored in an old version, then removes these versions from `status.storedVersions`: only
 * then they can be removed from the definition. Sends no request if there is nothing to do. If resources are rejected, the versions stay.
 * @throws KubeError
 */
export async function migrateStored(
  context: CrdContext & MigrationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { definition, clock, logger, onMigration } = context;
  const { version } = definition.kind.gvk;
  const before = await readCrd(context, signal);
  const from = otherVersions(before, version);
  if (before === undefined || from.length === 0) return onMigration?.(undefined);
  await clock.sleep(propagationMs, signal);
  const { gvk } = definition.kind;
  const known = versionNames(before).map((name) => `${gvk.group}/${name}`);
  let latest: MigrationView | undefined;
  const { count, rejected } = await editResources(
    context,
    {
      gvk,
      readsFields: true,
      onProgress(progress) {
        latest = { version, ...progress };
        onMigration?.(latest);
      },
      // Without a change, too: the API server stores the object in the current version. But it would drop all field managers where one
      // has a version that was removed before.
      change: ({ managedFields }) => {
        const entries = withFieldVersion(
          managedFields,
          (each) => !known.includes(each),
          apiVersionOf(gvk),
        );
        return entries === undefined ? {} : { managedFields: entries };
      },
    },
    signal,
  );
  if (rejected.length > 0) {
    onMigration?.(latest && { ...latest, rejected });
    logger.warn(
      { from, rejected },
      'Resources that are invalid in the new storage version keep the old one',
    );
    return;
  }
  await trimStoredVersions(context, before, signal);
  onMigration?.(undefined);
  logger.info({ from, resources: count }, 'Resources migrated to the new storage version');
}

/** The live CRD from the cache. Undefined: absent, of another owner, or being deleted. */
async function readCrd(
  { definition, cluster, hub }: CrdContext,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { name } = definition.kind.crd.metadata;
  return withSynced(acquireCrd(cluster, name), signal, async (crds) => {
    const live = crds.get(undefined, name)?.object;
    const isOurs = live !== undefined && ownershipConflict(live, definition, hub) === undefined;
    return isOurs && !isTerminating(live) ? live : undefined;
  });
}

function otherVersions(crd: KubeObject | undefined, version: string): readonly string[] {
  return crd === undefined ? [] : storedVersionsOf(crd).filter((each) => each !== version);
}

/** Guarded by `resourceVersion`: a version that was added meanwhile is kept. */
async function trimStoredVersions(
  { definition, cluster }: CrdContext,
  before: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name, resourceVersion = '' } = before.metadata;
  await cluster.apply(
    {
      apiVersion: before.apiVersion,
      kind: before.kind,
      metadata: { name, resourceVersion },
      status: { storedVersions: [definition.kind.gvk.version] },
    },
    {
      fieldManager: statusManagerOf(definition.name),
      force: true,
      subresource: 'status',
      flow: crdFlowOf(definition),
    },
    signal,
  );
}
